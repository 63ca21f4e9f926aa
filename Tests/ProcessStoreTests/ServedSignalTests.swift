import Foundation
import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import StoreServer
import Testing
import Threads

@testable import ProcessStore

/// The signals of a storage that is served: from its stream to the daemon's side of the lines.
@Suite struct ServedSignalTests {
    private typealias Pipe = (read: Int32, write: Int32)

    private static func pipe() throws -> Pipe {
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    /// Serves a storage in memory while `body` runs, and returns its lines as they came until the end.
    private static func serve(
        hasSignals: Bool, isEnded: Locked<Bool> = Locked(false),
        _ body: (MemoryPathStorage, Locked<[String]>) async throws -> Void
    ) async throws -> [String] {
        let (input, output) = (try pipe(), try pipe())
        let storage = MemoryPathStorage(PathStorageProperties())
        let lines = Locked<[String]>([])
        let isOver = Locked(false)
        let isReading = Threads.Thread.run {
            var buffer = LineBuffer(limit: 1 << 20)
            var room = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(output.read, &room, room.count)
                guard count > 0 else { break }
                let fresh = room[..<count].withUnsafeBytes { buffer.take($0) }
                lines.withLock { $0 += fresh.map { String(decoding: $0 ?? [], as: UTF8.self) } }
            }
            isOver.withLock { $0 = true }
        }
        try #require(isReading)
        let server = Task {
            await StoreServer.serve("memory", input: input.read, output: output.write) { _ in
                .init(storage: storage, hasSignals: hasSignals, end: { isEnded.withLock { $0 = true } }, steps: { 0 })
            }
        }
        let greeting = #"{"replica":1,"protocol":[1],"url":"memory://x","spool":"/","state":"/"}"# + "\n"
        #expect(write(input.write, greeting, greeting.utf8.count) == greeting.utf8.count)
        #expect(try await eventually { !lines.withLock { $0 }.isEmpty })
        try await body(storage, lines)
        close(input.write)
        #expect(await server.value == 0)
        close(output.write)
        #expect(try await eventually { isOver.withLock { $0 } })
        for file in [output.read, input.read] { close(file) }
        return lines.withLock { $0 }
    }

    private static func signals(in lines: [String]) throws -> [StoragePath?] {
        try lines.compactMap { line in
            try JSONDecoder().decode(IncomingLine.self, from: Data(line.utf8)).signal
        }.map { $0.path.flatMap(StoragePath.init(wire:)) }
    }

    @Test func signalsReachTheDaemon() async throws {
        let folders = [
            StoragePath([FileName("a b"), FileName("ü")]), nil, StoragePath([FileName(bytes: [0xff, 0x0a])]),
        ]
        let isEnded = Locked(false)
        let lines = try await Self.serve(hasSignals: true, isEnded: isEnded) { (storage, lines) async throws in
            for folder in folders {
                // The server listens soon after its first line: until then nobody hears it.
                #expect(
                    try await eventually {
                        let isHeard = try Self.signals(in: Array(lines.withLock { $0 }.dropFirst())).contains(folder)
                        if !isHeard { storage.signal(folder) }
                        return isHeard
                    })
            }
            #expect(!isEnded.withLock { $0 })
        }
        #expect(lines[0].contains(#""signals":true"#))
        #expect(isEnded.withLock { $0 })
    }

    /// A storage that may signal thousands at once: the daemon would end the process.
    @Test func signalsAreSpaced() async throws {
        _ = try await Self.serve(hasSignals: true) { (storage, lines) async throws in
            let begin = ContinuousClock.now
            var count = 0
            while count < 200 {
                // The server listens soon after its first line: until then nobody hears them.
                for _ in 0..<20 { storage.signal(nil) }
                try await Task.sleep(for: .milliseconds(1))
                count = lines.withLock { $0.count }
            }
            #expect(ContinuousClock.now - begin > .milliseconds(8) * (count - 2))
        }
    }

    @Test func aStorageWithoutSignalsDeclaresNone() async throws {
        let lines = try await Self.serve(hasSignals: false) { storage, _ in storage.signal(nil) }
        #expect(lines.count == 1 && lines[0].contains(#""signals":false"#))
    }
}
