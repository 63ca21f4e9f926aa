internal import FuseMount
internal import ReplicaModel
internal import SystemPackage

/// How often an operation is retried after the missing content or listing was fetched; another change in the store may
/// remove it again.
private let mostAttempts = 8

extension DomainFileSystem {
    /// Runs `operation` and sends its result; if it lacks a listing or content, parks the reply and fetches that first.
    /// A signal to the waiting program answers EINTR.
    func answer<Answer, Value>(
        _ context: RequestContext, _ reply: consuming Reply<Answer>, attempts: Int = mostAttempts,
        _ operation: @escaping @Sendable () throws(ReplicaError) -> Value,
        send: @escaping @Sendable (consuming Reply<Answer>, Value) -> Void
    ) {
        let outcome = Result { () throws(ReplicaError) in try operation() }
        switch outcome {
        case .success(let value): return send(reply, value)
        case .failure(.errno(let errno)): return reply.fail(errno)
        case .failure(let error):
            guard attempts > 0 else { return reply.fail(.ioError) }
            guard !isRefused(context) else { return reply.fail(.deadlock) }
            wait(reply) { [source] () throws(Errno) in
                try await source.bring(error)
            } then: { [self] reply, _ in
                answer(context, reply, attempts: attempts - 1, operation, send: send)
            }
        }
    }

    /// Parks `reply` until the range of a file is local or in memory, and continues with it.
    func bring<Answer>(
        _ context: RequestContext, _ number: ItemNumber, _ wanted: Range<Int64>, ahead: Range<Int64>,
        _ reply: consuming Reply<Answer>,
        then goOn: @escaping @Sendable (consuming Reply<Answer>, UncachedBytes?) -> Void
    ) {
        guard !isRefused(context) else { return reply.fail(.deadlock) }
        wait(reply) { [source] () throws(Errno) in
            try await source.read(number, wanted, ahead: ahead)
        } then: { reply, uncached in
            goOn(reply, uncached)
        }
    }

    /// Brings a dataless file up to date for a program that will read it, and continues in any case.
    func revalidate<Answer>(
        _ context: RequestContext, _ number: ItemNumber, _ reply: consuming Reply<Answer>,
        then goOn: @escaping @Sendable (consuming Reply<Answer>) -> Void
    ) {
        guard !isRefused(context) else { return goOn(reply) }
        wait(reply) { [source] () throws(Errno) in
            await source.revalidate(number)
        } then: { reply, _ in
            goOn(reply)
        }
    }

    /// Parks `reply` while `work` runs, and continues. A signal to the waiting program ends the wait.
    private func wait<Answer, Found: Sendable>(
        _ reply: consuming Reply<Answer>, for work: @escaping @Sendable () async throws(Errno) -> Found,
        then goOn: @escaping @Sendable (consuming Reply<Answer>, Found) -> Void
    ) {
        let parked = reply.park()
        let task = Task {
            let found: Found
            do throws(Errno) {
                found = try await work()
            } catch {
                parked.take()?.fail(error)
                return
            }
            guard let reply = parked.take() else { return }
            goOn(reply, found)
        }
        parked.onInterrupt {
            task.cancel()
            parked.take()?.fail(.interrupted)
        }
    }
}

extension ContentSource {
    fileprivate func bring(_ error: ReplicaError) async throws(Errno) {
        switch error {
        case .errno(let errno): throw errno
        case .needsListing(let folder): try await list(folder)
        case .needsContent(let file): try await hydrate(file, range: nil)
        }
    }
}
