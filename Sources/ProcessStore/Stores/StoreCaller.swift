import Foundation
import PathStore
import ReplicaModel
import SystemPackage
import Threads

/// Makes the calls of a store's process: waits for a free slot, transfers contents through the spool folder, and turns
/// every outcome into a result or an error.
final class StoreCaller: Sendable {
    /// The parameters of a fetch.
    struct Fetch: Sendable {
        let sink: any ContentSink
        /// The requested range; nil for all.
        let range: Range<Int64>?

        /// The expected number of bytes of a content of this size.
        func count(of size: Int64) -> Int64 {
            guard let range else { return size }
            return max(0, min(range.upperBound, size) - range.lowerBound)
        }
    }

    /// The store's first greeting.
    let hello: Hello
    let runner: ProcessRunner
    private let listeners = SignalListeners()
    private let gate: ConcurrencyLimit
    /// Threads for work that blocks on the local disk.
    private let disk = DispatchQueue(label: "replica.spool", attributes: .concurrent)

    init(_ runner: ProcessRunner, _ hello: Hello) {
        self.runner = runner
        self.hello = hello
        gate = ConcurrencyLimit(hello.concurrency)
        guard hello.signals else {
            listeners.finish()
            return
        }
        runner.onSignal { [listeners] signal in listeners.signal(signal?.path.flatMap(StoragePath.init(wire:))) }
    }

    /// What the store said at its last call, if it did not reach its server, or was not let in.
    private let complaint = Locked<String?>(nil)

    /// Why the store can't be used now, in one line, as far as it is known: why its process does not run, or what it said last.
    var trouble: String? { runner.trouble ?? complaint.withLock { $0 } }

    /// The folders that the store reports as possibly changed; nil for anywhere.
    func signals() -> AsyncStream<StoragePath?> { listeners.stream() }

    /// Releases the process; every later call fails, and all streams of signals end.
    func close() async {
        await runner.close()
        listeners.finish()
    }

    /// Makes a call.
    /// - Parameters:
    ///   - arguments: Its `with`, given the name of its spool file.
    ///   - contents: The contents to send.
    ///   - fetch: The fetch, if it is one.
    ///   - size: The size of the fetched content, according to the result.
    func call<Answer: Decodable & Sendable, Arguments: Encodable>(
        _ name: String, contents: ItemContents? = nil, fetch: Fetch? = nil,
        size: @escaping @Sendable (Answer) -> Int64? = { _ in nil }, _ arguments: (String?) -> Arguments
    ) async throws(CallFailure) -> Answer {
        let place = try await Place.get(gate)
        var told: @Sendable (Int64) -> Void = { _ in }
        if let contents { told = contents.progress }
        let progress = told
        let (process, sent, file) = try await send(contents, isFetch: fetch != nil, place) { process, file, kept in
            let filled = arguments(file?.name)
            return process.call(name, with: filled, isFetch: fetch != nil, keeping: kept, progress: progress)
        }
        let outcome: Result<Answer, CallFailure> = await withTaskCancellationHandler {
            await self.outcome(of: sent, fetch, file, size)
        } onCancel: {
            process.cancel(sent)
        }
        if case .failure = outcome { process.cancel(sent) }
        note(outcome)
        let answer = try outcome.get()
        if let contents { contents.progress(contents.size) }
        return answer
    }

    private func note<Answer>(_ outcome: Result<Answer, CallFailure>) {
        switch outcome {
        case .failure(.error(let error)) where ["serverUnreachable", "notAuthenticated"].contains(error.code):
            complaint.withLock { $0 = error.text }
            if error.code == "notAuthenticated" { runner.noteRejectedLogin() }
        case .success, .failure(.error): complaint.withLock { $0 = nil }
        case .failure: break
        }
    }

    private func fill(_ file: SpoolFile, with contents: ItemContents) async throws(CallFailure) {
        try await onDisk { () throws(CallFailure) in
            do throws(Errno) { try file.fill(with: contents) } catch {
                if error == .noData { throw .contents("the snapshot ends before its size") }
                throw .spool("the content to send can't be spooled: \(error)")
            }
        }
    }

    /// Sends a call to a process. If the process is being released at that moment, the call goes to the next one with a
    /// new file, because the spool folder is emptied when a process starts.
    private func send(
        _ contents: ItemContents?, isFetch: Bool, _ place: Place,
        _ call: (StoreProcess, SpoolFile?, [any Sendable]) -> PendingCall?
    ) async throws(CallFailure) -> (StoreProcess, PendingCall, SpoolFile?) {
        while true {
            let process: StoreProcess
            do throws(StoreFailure) { process = try await runner.running().0 } catch { throw .store(error) }
            let file = contents != nil ? runner.spool.file("u") : isFetch ? runner.spool.file("d") : nil
            if let contents, let file { try await fill(file, with: contents) }
            var kept: [any Sendable] = [place]
            if let file { kept.append(file) }
            if let sent = call(process, file, kept) { return (process, sent, file) }
            if Task.isCancelled { throw .cancelled }
        }
    }

    private func outcome<Answer: Decodable & Sendable>(
        of call: PendingCall, _ fetch: Fetch?, _ file: SpoolFile?, _ size: (Answer) -> Int64?
    ) async -> Result<Answer, CallFailure> {
        do throws(CallFailure) {
            return .success(try await answer(to: call, fetch, file, size))
        } catch {
            return .failure(error)
        }
    }

    /// Follows a call to its end.
    private func answer<Answer: Decodable & Sendable>(
        to call: PendingCall, _ fetch: Fetch?, _ file: SpoolFile?, _ size: (Answer) -> Int64?
    ) async throws(CallFailure) -> Answer {
        var copied = RangeSet<Int64>()
        for await _ in call.news {
            guard call.outcome == nil, let fetch, let file else { continue }
            let parts = call.wrote.subtracting(copied)
            try await copy(parts, fetch, file)
            copied.formUnion(parts)
        }
        let answer = try decoded(call.outcome, Answer.self)
        guard let fetch, let file, let size = size(answer) else { return answer }
        let count = fetch.count(of: size)
        let all = RangeSet(0..<count)
        guard call.wrote.isSubset(of: all) else {
            throw .unreachable("the store reported more bytes than the content has")
        }
        try await copy(all.subtracting(copied), fetch, file, whole: count)
        return answer
    }

    private func decoded<Answer: Decodable>(
        _ outcome: PendingCall.Outcome?, _ type: Answer.Type
    ) throws(CallFailure) -> Answer {
        switch outcome {
        case .answer(let line):
            do throws(IncomingLine.Malformed) {
                return try IncomingLine.read(ResultLine<Answer>.self, line).result
            } catch {
                throw .unreachable("the store's answer is invalid: \(error.reason)")
            }
        case .error(let error) where error.code == "cancelled" && Task.isCancelled: throw .cancelled
        case .error(let error): throw .error(error)
        case .lost(let reason): throw .unreachable(reason)
        case nil: throw .cancelled
        }
    }

    /// Passes parts of a spool file to the sink.
    /// - Parameter whole: The expected size of the file; nil while it grows.
    private func copy(
        _ parts: RangeSet<Int64>, _ fetch: Fetch, _ file: SpoolFile, whole: Int64? = nil
    ) async throws(CallFailure) {
        if parts.isEmpty, whole == nil { return }
        try await onDisk { () throws(CallFailure) in
            do {
                let opened = try file.opened()
                if let whole, opened.size != whole {
                    throw SpoolFile.Wrong(reason: "the spool file has \(opened.size) bytes instead of \(whole)")
                }
                for part in parts.ranges {
                    try opened.copy(part, to: fetch.sink, offset: fetch.range?.lowerBound ?? 0)
                }
            } catch let wrong as SpoolFile.Wrong {
                throw .unreachable(wrong.reason)
            } catch let error as RemoteStoreError {
                throw .sink(error)
            } catch {
                throw .unreachable("\(error)")
            }
        }
    }

    private func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable () throws(CallFailure) -> Value
    ) async throws(CallFailure) -> Value {
        let outcome = await withCheckedContinuation { continuation in
            disk.async {
                continuation.resume(returning: Result { () throws(CallFailure) in try body() })
            }
        }
        return try outcome.get()
    }
}

/// A slot among the concurrent calls of a store, freed by its last owner.
private final class Place: Sendable {
    private let gate: ConcurrencyLimit

    private init(_ gate: ConcurrencyLimit) {
        self.gate = gate
    }

    static func get(_ gate: ConcurrencyLimit) async throws(CallFailure) -> Place {
        do throws(RemoteStoreError) { try await gate.enter() } catch { throw .cancelled }
        return Place(gate)
    }

    deinit {
        gate.leave()
    }
}
