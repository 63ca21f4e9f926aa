import Foundation
import Glibc
import Logging
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ProcessStore

/// Which programs are run.
@Suite struct StoreProgramTests {
    /// A folder that only its owner can change, with all its parents: not in /var/tmp, which is world-writable.
    private func withFolder(_ body: (FilePath) throws -> Void) throws {
        let folder = FilePath("/var/lib/replica-test-\(getpid())-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(
            atPath: folder.string, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        defer { _ = try? FileManager.default.removeItem(atPath: folder.string) }
        try body(folder)
    }

    private func find(_ places: [FilePath], isRoot: Bool = true) throws -> StoreProgram? {
        try StoreProgram.find(in: places, isRoot: isRoot)
    }

    private func refusal(_ path: FilePath) -> String? {
        do throws(UntrustedProgram) { _ = try StoreProgram.find(in: [path], isRoot: true) } catch {
            return "\(error)"
        }
        return nil
    }

    @Test(.enabled(if: geteuid() == 0, "what root owns only root can make"))
    func rootRunsOnlyWhatRootAloneCanChange() throws {
        try withFolder { folder in
            let inner = folder.appending("stores")
            let program = inner.appending("replica-store-x")
            try FileManager.default.createDirectory(
                atPath: inner.string, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            #expect(try find([program])?.path == nil)
            #expect(FileManager.default.createFile(atPath: program.string, contents: Data("#!/bin/sh\n".utf8)))
            #expect(chmod(program.string, 0o644) == 0)
            #expect(refusal(program) == "\(program) is not executable")
            for mode: mode_t in [0o755, 0o700, 0o555, 0o4755] {
                #expect(chmod(program.string, mode) == 0)
                #expect(refusal(program) == nil)
                #expect(try find([program])?.file != nil)
            }
            for mode: mode_t in [0o775, 0o757] {
                #expect(chmod(program.string, mode) == 0)
                #expect(refusal(program) == "\(program) is writable by others")
            }
            #expect(chmod(program.string, 0o755) == 0)
            for place in [folder, inner] {
                for mode: mode_t in [0o775, 0o1777] {
                    #expect(chmod(place.string, mode) == 0)
                    #expect(refusal(program) == "\(place) is writable by others")
                }
                #expect(chmod(place.string, 0o755) == 0)
            }
            for place in [folder, inner, program] {
                #expect(chown(place.string, 65_534, 0) == 0)
                #expect(refusal(program) == "\(place) is not owned by root")
                #expect(chown(place.string, 0, 0) == 0)
            }
            let link = inner.appending("replica-store-link")
            #expect(symlink(program.string, link.string) == 0)
            #expect(refusal(link) == "\(link) is a link")
            let way = folder.appending("way")
            #expect(symlink(inner.string, way.string) == 0)
            #expect(refusal(way.appending("replica-store-x")) == "\(way) is a symbolic link or not a directory")
            #expect(mkdir(inner.appending("replica-store-dir").string, 0o755) == 0)
            #expect(refusal(inner.appending("replica-store-dir")) == "\(inner)/replica-store-dir is not a file")
            #expect(refusal(program) == nil)
        }
    }

    /// A refused program is not skipped in favor of a later one.
    @Test(.enabled(if: geteuid() == 0, "what root owns only root can make"))
    func aRefusedProgramIsNotSkipped() throws {
        try withFolder { folder in
            let (one, two) = (folder.appending("one"), folder.appending("two"))
            for program in [one, two] {
                #expect(FileManager.default.createFile(atPath: program.string, contents: nil))
                #expect(chmod(program.string, 0o755) == 0)
            }
            let first = try find(["/nowhere/x", one, two])
            #expect(first?.path == one)
            #expect(chmod(one.string, 0o777) == 0)
            #expect(throws: UntrustedProgram.self) { try find([one, two]) }
            let (other, own) = (try find([two, one]), try find([one, two], isRoot: false))
            #expect(other?.path == two && own?.path == one)
        }
    }

    /// A program that replaces it under its name is not run.
    @Test(.enabled(if: geteuid() == 0, "what root owns only root can make"))
    func theCheckedProgramIsTheOneThatRuns() async throws {
        let rude = FilePath(#filePath).removingLastComponent().appending("rude-store")
        let folder = FilePath("/var/lib/replica-test-\(getpid())-swapped")
        let state = TemporaryFolder.unusedPath()
        for path in [folder, state] {
            try FileManager.default.createDirectory(
                atPath: path.string, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        }
        let program = folder.appending("replica-store-rude")
        try FileManager.default.copyItem(atPath: rude.string, toPath: program.string)
        #expect(chmod(program.string, 0o755) == 0)
        let found = try #require(try find([program]))
        try FileManager.default.removeItem(atPath: program.string)
        #expect(FileManager.default.createFile(atPath: program.string, contents: Data("#!/bin/sh\nexit 1\n".utf8)))
        #expect(chmod(program.string, 0o755) == 0)
        let opened = try await OpenedStore.open(found, url: "rude:///none", folder: state, log: .init(label: "swapped"))
        await opened.close()
        for path in [folder, state] { try FileManager.default.removeItem(atPath: path.string) }
    }
}
