import Foundation
import Glibc
import Logging
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ProcessStore

/// The misbehaving store with short limits for tests, in a temporary folder.
struct RudeStore {
    private let home: TemporaryFolder
    var folder: FilePath { home.path }
    let log = LogLines()
    private let program = StoreProgram(
        path: FilePath(#filePath).removingLastComponent().appending("rude-store"))

    init() throws {
        home = try TemporaryFolder()
    }

    static let limits: ProcessLimits = {
        var limits = ProcessLimits()
        // No test ends by these.
        limits.hello = .seconds(3_600)
        limits.opening = .seconds(3_600)
        limits.silence = .seconds(3_600)
        limits.answerToCancel = .seconds(3_600)
        limits.farewell = .milliseconds(500)
        limits.termination = .milliseconds(300)
        limits.firstPause = .milliseconds(50)
        return limits
    }()

    func open(
        _ fault: String, _ change: (inout ProcessLimits) -> Void = { _ in }
    ) async throws(StoreFailure) -> ProcessStorage {
        var limits = Self.limits
        change(&limits)
        let opened = try await OpenedStore.open(
            program, url: "rude:///\(fault)", folder: folder, limits: limits, log: log.logger(.trace))
        guard case .path(let storage) = opened else { throw .refused("another level") }
        return storage
    }

    /// Lines of a file in the store's folder.
    func notes(_ name: String) -> [String] {
        guard let data = FileManager.default.contents(atPath: "\(folder)/store/\(name)") else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Writes a file into the store's folder, which it waits for.
    func note(_ name: String) {
        #expect(FileManager.default.createFile(atPath: "\(folder)/store/\(name)", contents: nil))
    }

    /// No process may be left, not even a zombie, and no file in its spool folder.
    func expectNothingLeft(_ location: SourceLocation = #_sourceLocation) async throws {
        for text in notes("runs") + notes("children") {
            let pid = try #require(pid_t(text))
            // A process that is not our child is reaped by another one, a little later.
            #expect(try await eventually { !Self.isAlive(pid) }, "process \(pid) is left", sourceLocation: location)
        }
        let spooled = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/spool")
        #expect(spooled.filter { $0.hasPrefix("u") } == [], sourceLocation: location)
    }

    /// A zombie that is not our child does not count.
    private static func isAlive(_ pid: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
        let fields = status.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.first != "Z" || fields.dropFirst().first == "\(getpid())"
    }

    /// Runs a test with a misbehaving store, and checks afterwards that nothing is left.
    static func run(_ body: (RudeStore) async throws -> Void) async throws {
        let rude = try RudeStore()
        try await body(rude)
        try await rude.expectNothingLeft()
    }
}

/// A sink that records the received bytes.
final class Bytes: ContentSink {
    private let content = Locked<(bytes: [UInt8], zeros: Int64)>(([], 0))

    var bytes: [UInt8] { content.withLock { $0.bytes } }
    var zeros: Int64 { content.withLock { $0.zeros } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        content.withLock {
            let end = Int(offset) + bytes.count
            if $0.bytes.count < end { $0.bytes += [UInt8](repeating: 0, count: end - $0.bytes.count) }
            $0.bytes.replaceSubrange(Int(offset)..<end, with: bytes)
        }
    }

    func writeZeros(in range: Range<Int64>) throws(RemoteStoreError) {
        content.withLock { $0.zeros += Int64(range.count) }
    }
}
