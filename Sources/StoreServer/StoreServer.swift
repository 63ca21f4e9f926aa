import ChildProcess
import Dispatch
import Foundation
import Glibc
package import PathStore
package import ProcessStore
import ReplicaModel
import SystemPackage
import Threads

/// Serves "replica store 1" (STORE_PROTOCOL.md) over any storage of paths, at descriptors 0 and 1.
package final class StoreServer: Sendable {
    /// Why a store can't be opened.
    package typealias Failure = StoreFailure

    /// The served storage.
    package struct Opened: Sendable {
        let storage: any PathStorage
        let hasSignals: Bool
        let end: @Sendable () async -> Void
        let steps: @Sendable () -> UInt64

        /// - Parameters:
        ///   - hasSignals: Whether the storage signals changes: then the process runs as long as the daemon.
        ///   - end: Called when the daemon has ended and the last call is answered. Takes seconds at most.
        ///   - steps: Returns a number that grows as long as calls make progress.
        package init(
            storage: any PathStorage, hasSignals: Bool = false, end: @escaping @Sendable () async -> Void = {},
            steps: @escaping @Sendable () -> UInt64
        ) {
            (self.storage, self.hasSignals, self.end, self.steps) = (storage, hasSignals, end, steps)
        }
    }

    private let opened: Opened
    private var storage: any PathStorage { opened.storage }
    private let spool: String
    private let writer: LineWriter
    private let calls = Locked<[Int64: Task<Void, Never>]>([:])

    /// The maximum length of a line, in bytes.
    private static let longestLine = 4 << 20
    /// The interval between progress reports of a call, in nanoseconds.
    private static let progressIntervalNanoseconds: UInt64 = 5_000_000_000
    /// The interval between reports that the store is being opened, in nanoseconds.
    private static let openingIntervalNanoseconds: UInt64 = 3_000_000_000
    /// The interval between signals: more than a thousand in a second would end the process.
    private static let signalInterval = Duration.milliseconds(10)
    /// How long calls in flight may continue when the daemon ends, in seconds.
    private static let graceSeconds = 8.0

    private init(_ opened: Opened, spool: String, _ writer: LineWriter) {
        (self.opened, self.spool, self.writer) = (opened, spool, writer)
    }

    /// Serves until the daemon ends, then ends the process.
    /// - Parameters:
    ///   - name: For users.
    ///   - open: Opens the storage that the daemon requests.
    package static func main(
        _ name: String, _ open: @Sendable (Greeting) async throws(Failure) -> Opened
    ) async -> Never {
        signal(SIGPIPE, SIG_IGN)
        PrivateMemory.close()
        exit(await serve(name, input: 0, output: 1, open))
    }

    /// Serves until the input ends.
    /// - Parameters:
    ///   - input: Where the daemon's lines come from, as a descriptor that stays open.
    ///   - output: Where the answers go.
    /// - Returns: The exit status.
    package static func serve(
        _ name: String, input: Int32, output: Int32, _ open: @Sendable (Greeting) async throws(Failure) -> Opened
    ) async -> Int32 {
        let writer = LineWriter(output)
        let lines = LineSource(input, limit: longestLine)
        guard let first = await lines.next(),
            // A peer with another protocol notices the end of this process.
            let greeting = try? JSONDecoder().decode(Greeting.self, from: Data(first))
        else { return 2 }
        do throws(Failure) {
            // A slow server is no hung program.
            let sign = Task { if greeting.takesOpening { await tellOpening(writer) } }
            defer { sign.cancel() }
            let opened = try await open(greeting)
            sign.cancel()
            await sign.value
            writer.write(
                HelloAnswer(name: name, properties: .init(opened.storage.properties, hasSignals: opened.hasSignals)))
            let server = StoreServer(opened, spool: greeting.spool, writer)
            let signalling = Task { if opened.hasSignals { await passOn(opened.storage.signals(), writer) } }
            while let line = await lines.next() { server.take(line) }
            signalling.cancel()
            await server.finish()
            await opened.end()
        } catch {
            writer.write(HelloFailure(error: .init(error)))
        }
        writer.flush()
        return 0
    }

    private static func passOn(_ folders: AsyncStream<StoragePath?>, _ writer: LineWriter) async {
        for await folder in folders {
            writer.write(SignalLine(folder: folder))
            do { try await Task.sleep(for: signalInterval) } catch { return }
        }
    }

    private static func tellOpening(_ writer: LineWriter) async {
        while !Task.isCancelled {
            do { try await Task.sleep(nanoseconds: openingIntervalNanoseconds) } catch { return }
            writer.write(OpeningLine())
        }
    }

    private func take(_ bytes: [UInt8]) {
        guard let line = try? JSONDecoder().decode(ServedLine.self, from: Data(bytes)) else {
            // An invalid call is answered if its number is valid.
            if let id = (try? JSONDecoder().decode(NumberOnly.self, from: Data(bytes)))?.id {
                writer.write(ServedAnswer(id: id, error: .init(code: "unsupported", message: "an unknown call")))
            }
            return
        }
        if let cancelled = line.cancel { calls.withLock { $0[cancelled] }?.cancel() }
        guard let id = line.id, let name = line.call else { return }
        guard let call = line.with else {
            return writer.write(
                ServedAnswer(id: id, error: .init(code: "unsupported", message: "a call without members")))
        }
        calls.withLock { calls in
            calls[id] = Task {
                let answer = await self.answer(id, name, call)
                // In one step, so that nothing about a call is reported after its answer.
                self.calls.withLock { calls in
                    calls[id] = nil
                    self.writer.write(answer)
                }
            }
        }
    }

    private struct NumberOnly: Decodable {
        var id: Int64
    }

    /// Lets calls in flight finish, and cancels them after a while.
    private func finish() async {
        let tasks = calls.withLock { Array($0.values) }
        let limit = Task {
            try await Task.sleep(nanoseconds: UInt64(Self.graceSeconds * 1e9))
            for task in tasks { task.cancel() }
        }
        for task in tasks { await task.value }
        limit.cancel()
    }

    // MARK: Calls

    private func answer(_ id: Int64, _ name: String, _ call: ServedCall) async -> ServedAnswer {
        let sign = Task { await self.tell(id) }
        defer { sign.cancel() }
        do throws(PathStorageError) {
            return ServedAnswer(id: id, result: try await result(id, name, call))
        } catch {
            return ServedAnswer(id: id, error: .init(error))
        }
    }

    /// Reports at intervals that a call is being worked on, as long as its storage makes progress. The progress of all
    /// calls counts together; each call ends by itself if its network is silent for too long.
    private func tell(_ id: Int64) async {
        var (last, count): (UInt64, Int64) = (opened.steps(), 0)
        while true {
            // A cancelled call has been answered.
            do { try await Task.sleep(nanoseconds: Self.progressIntervalNanoseconds) } catch { return }
            let now = opened.steps()
            guard now != last else { continue }
            (last, count) = (now, count + 1)
            let line = ServedAnswer(id: id, progress: count)
            calls.withLock { if $0[id] != nil { writer.write(line) } }
        }
    }

    private func result(
        _ id: Int64, _ name: String, _ call: ServedCall
    ) async throws(PathStorageError) -> ServedAnswer.Result {
        switch name {
        case "stat":
            guard let entry = try await storage.entry(at: call.path) else { throw .notFound }
            return .init(entry: .init(entry: entry))
        case "list":
            let page = try await storage.list(call.path, isDeep: call.isDeep, from: call.page)
            return .init(
                entries: page.entries.map(ServedAnswer.Entry.init),
                next: page.next.map { String(decoding: $0.bytes, as: UTF8.self) }, leftOut: .init(page.leftOut))
        case "get": return .init(entry: .init(entry: try await fetch(id, call)))
        case "put": return .init(entry: .init(entry: try await put(id, call)))
        case "folder":
            return .init(
                entry: .init(entry: try await storage.make(call.path, kind: .folder, attributes: call.attributes)))
        case "symlink":
            let kind = PathKind.symlink(call.target ?? [])
            return .init(
                entry: .init(entry: try await storage.make(call.path, kind: kind, attributes: call.attributes)))
        case "set": return .init(entry: .init(entry: try await storage.set(call.attributes, of: call.path)))
        case "move":
            guard let target = call.destination else { throw .unsupported("a move without a destination") }
            return .init(
                entry: .init(entry: try await storage.move(call.path, to: target, version: call.version)))
        case "delete":
            try await storage.remove(call.path, version: call.version)
            return .init()
        case "sync":
            try await storage.makeDurable()
            return .init()
        case "usage": return .init(space: SpaceFigures(try await storage.usage()))
        default: throw .unsupported("there is no call of this name")
        }
    }

    private func fetch(_ id: Int64, _ call: ServedCall) async throws(PathStorageError) -> PathEntry {
        guard let name = call.file else { throw .unsupported("no spool file") }
        let sink: SpoolFileSink
        do throws(RemoteStoreError) {
            sink = try SpoolFileSink("\(spool)/\(name)", range: call.range) { [writer] place in
                writer.write(ServedAnswer(id: id, wrote: [place.lowerBound, place.upperBound - place.lowerBound]))
            }
        } catch {
            throw .unavailable(error.message)
        }
        return try await storage.read(call.path, version: call.version, range: call.range, into: sink)
    }

    private func put(_ id: Int64, _ call: ServedCall) async throws(PathStorageError) -> PathEntry {
        guard let name = call.file, let condition = call.guard else { throw .unsupported("no spool file, or no guard") }
        let file = open("\(spool)/\(name)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            throw .unreachable("the spool file can't be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(file) }
        let rateLimit = RateLimit(every: 200_000_000)
        let contents = ItemContents(file: FileDescriptor(rawValue: file), size: call.size) { [writer] count in
            if rateLimit.isTime { writer.write(ServedAnswer(id: id, progress: count)) }
        }
        return try await storage.write(call.path, contents: contents, attributes: call.attributes, guard: condition)
    }
}
