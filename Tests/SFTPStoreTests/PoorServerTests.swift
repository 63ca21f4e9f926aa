import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import SFTPStore

/// `rclone serve sftp`: it announces hard links and replacing renames that it does not have, keeps no modes and symlinks, and
/// replaces where it should not.
@Suite struct PoorServerTests {
    @Test func missingFeaturesAreDetected() async throws {
        try await SFTPScratch.run(.rclone) { scratch in
            let properties = scratch.storage.properties
            #expect(properties.createStrength == .checked && properties.replaceStrength == .checked)
            #expect(!properties.keepsModes && !properties.keepsSymlinks && properties.keepsModificationDates)
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.server.root)
            #expect(left.isEmpty)
            #expect(scratch.storage.reconnector.sizeOfPackets == 32_768)
        }
    }

    @Test func filesAreWrittenReplacedAndRead() async throws {
        try await SFTPScratch.run(.rclone) { scratch in
            let date = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
            let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let entry = try await scratch.write("file", large, PathAttributes(mode: 0o640, modificationDate: date))
            #expect(entry.attributes == PathAttributes(modificationDate: date) && entry.size == 1_000_000)
            #expect(try await scratch.read("file") == large)
            #expect(try scratch.shell("file").st_mtim.tv_sec == 1_700_000_000)
            let again = try await scratch.write("file", "second", guard: .version(entry.version ?? ""))
            #expect(again.version != entry.version)
            #expect(try scratch.content("file") == "second")
            #expect(try scratch.leftovers().isEmpty)
        }
    }

    /// A file that it would replace is checked for first.
    @Test func existingFilesAreNotReplaced() async throws {
        try await SFTPScratch.run(.rclone) { scratch in
            try await scratch.write("file", "first")
            _ = try await scratch.storage.make(scratch.path("folder"), kind: .folder, attributes: PathAttributes())
            try await scratch.write("folder/inner", "inner")
            let other = try await scratch.write("other", "other")
            for attempt in [
                { try await scratch.write("file", "second") },
                { try await scratch.storage.make(scratch.path("folder"), kind: .folder, attributes: PathAttributes()) },
                {
                    try await scratch.storage.move(
                        scratch.path("other"), to: scratch.path("file"), version: other.version)
                },
            ] {
                guard case .taken = try await failure({ _ = try await attempt() }) else {
                    throw BrokenPromise("it should be taken")
                }
            }
            guard case .refused(let text) = try await failure({ try await scratch.write("tab\t", "x") }) else {
                throw BrokenPromise("it should be refused")
            }
            #expect(text.contains("control characters"))
            guard
                case .unsupported = try await failure({
                    _ = try await scratch.storage.make(
                        scratch.path("link"), kind: .symlink([65]), attributes: PathAttributes())
                })
            else { throw BrokenPromise("it should not be supported") }
            guard
                case .notEmpty = try await failure({
                    try await scratch.storage.remove(scratch.path("folder"), version: nil)
                })
            else { throw BrokenPromise("it should not be empty") }
            #expect(try await scratch.names() == ["file", "folder", "other"])
            #expect(try scratch.content("file") == "first")
            #expect(try scratch.content("folder/inner") == "inner")
        }
    }
}
