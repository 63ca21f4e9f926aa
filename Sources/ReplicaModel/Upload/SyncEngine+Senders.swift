internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Sends everything that can be sent now.
    /// - Returns: The time of the next check, in seconds since 1970; nil if only a change requires one.
    func send() async -> Double? {
        guard !replica.isScanning else { return replica.now() + 0.1 }
        let retry = retrySome()
        let next = await sendDue()
        return [retry, next].compactMap(\.self).min()
    }

    /// Sends everything that is due.
    /// - Returns: Like ``send()``.
    private func sendDue() async -> Double? {
        let now = replica.now()
        let news = replica.takeChanged(settle: options.settleSeconds)
        if replica.events.isHeard {
            for number in news.due + news.later.map(\.0) { replica.postChange(of: number) }
        }
        uploadQueue.withLock { uploadQueue in
            uploadQueue.add(news.due)
            for (number, time) in news.later { uploadQueue.wait(number, until: time) }
            uploadQueue.addDue(at: now)
        }
        if callTimeouts.isFullOfChanges, state.withLock({ $0.storeFailure == nil }) { noteStoreFailure(.unanswered) }
        if let time = heldBack() { return time.isFinite ? time : nil }
        do throws(RemoteStoreError) {
            try await recognizeStore()
        } catch {
            noteRecognitionFailure(error)
            return heldBack().flatMap { $0.isFinite ? $0 : nil }
        }
        guard !options.isSequential else {
            await work(Sender())
            return uploadQueue.withLock { $0.nextAlarm }
        }
        let limit = max(1, store.properties.concurrency)
        while uploadQueue.withLock({ $0.takeWorker(limit, now: replica.now()) }) {
            let sender = Sender()
            sender.start(on: store.executor) {
                await self.work(sender)
                if !sender.isAbandoned { self.releaseSender() }
            }
        }
        // An import that is empty, or whose items the store already had, leaves nothing to send.
        if uploadQueue.withLock({ $0.workers == 0 }) { await finishImport() }
        return uploadQueue.withLock { $0.nextTry(limit) }
    }

    /// A sender has ended, or is not waited for any more.
    func releaseSender() {
        uploadQueue.withLock { $0.workers -= 1 }
        wakeSignal.signal()
    }

    /// Makes calls until there are none left, or one is not answered in time.
    private func work(_ sender: Sender) async {
        BackgroundPriority.take()
        var begin = replica.now()
        var most = smallestBatch
        while mayCall, let calls = nextBatch(most) {
            sender.begin(calls)
            while let call = sender.next() {
                BackgroundPriority.take()
                await uploadOrAbandon(call, sender)
            }
            guard !sender.isGivenUp else { return }
            most = batchSize(
                after: replica.now() - begin, calls: calls.count,
                sinceEdit: options.isSequential ? 0 : replica.sinceEdit)
            await yieldToPrograms(since: begin)
            begin = replica.now()
        }
        await fetchFirst()
        await finishImport()
        replica.withTree { tree in if tree.pending.isEmpty { statistics.withLock { $0.endSending() } } }
    }

    /// Yields to programs that make changes one after the other: calls take processor time and the tree's lock.
    private func yieldToPrograms(since begin: Double) async {
        guard !options.isSequential else { return }
        let rest = uploadPause(
            after: replica.now() - begin, workers: uploadQueue.withLock { $0.workers }, sinceEdit: replica.sinceEdit)
        if rest > 0 { try? await Task.sleep(for: .seconds(rest)) }  // A sender that is cancelled ends.
    }

    /// Fetches the content and listings that items need before they can be sent, and queues the items again.
    private func fetchFirst() async {
        let fetches = uploadQueue.withLock { uploadQueue in
            defer { uploadQueue.fetchesFirst = [] }
            return uploadQueue.fetchesFirst
        }
        for (item, absent) in fetches {
            do throws(Errno) {
                for number in absent {
                    let isFolder = replica.withTree { $0.items[number]?.kind == .folder }
                    isFolder ? try await list(number) : try await hydrate(number, range: nil)
                }
                uploadQueue.withLock { $0.add(CollectionOfOne(item)) }
                wakeSignal.signal()
            } catch {
                uploadQueue.withLock { $0.wait(item, until: replica.now() + 5) }
            }
        }
    }

    /// Whether calls of the store are allowed now.
    private var mayCall: Bool { heldBack() == nil && state.withLock { $0.pulls.isStoreRecognized } }

    /// The time until which nothing is sent.
    private func heldBack() -> Double? {
        if let rest = replica.recordingRest { return rest }
        // It would hang as well, and must not be recorded as made.
        let isFull = callTimeouts.isFullOfChanges
        return state.withLock { state in
            if state.disconnected != nil { return .infinity }
            if isFull { return replica.now() + Self.fullRest }
            guard let storeFailure = state.storeFailure else { return nil }
            let time = storeFailure.retryAt ?? .infinity
            return time > replica.now() ? time : nil
        }
    }

    /// Seconds until it is looked again whether calls that hang have ended.
    private static let fullRest = 5.0

    /// The maximum number of bytes of content that are started together.
    private static let mostBytes: Int64 = 4 << 20

    /// Begins some calls, and records them before they are made (statement 73).
    /// - Parameter most: The maximum number of calls.
    private func nextBatch(_ most: Int) -> [OutgoingCall]? {
        uploadQueue.withLock { $0.beginChoosing() }
        let calls = choose(most)
        uploadQueue.withLock { $0.endChoosing(calls?.count ?? 0) }
        return calls
    }

    private func choose(_ most: Int) -> [OutgoingCall]? {
        var calls: [OutgoingCall] = []
        var bytes: Int64 = 0
        while calls.count < most, bytes < Self.mostBytes {
            guard let number = uploadQueue.withLock({ $0.pop() }) else { break }
            guard let call = beginCall(number) else { continue }
            calls.append(call)
            if call.source != nil { bytes = bytes.saturatingAdd(call.fingerprint.size) }
        }
        if calls.isEmpty {
            for number in uploadQueue.withLock({ $0.resolveDeadlock() }) where calls.isEmpty {
                if let call = displace(number) { calls.append(call) }
            }
        }
        guard !calls.isEmpty else { return nil }
        do {
            try replica.record()
        } catch {
            // After a crash, an unrecorded create could be made twice: nothing is sent until the database can be
            // written.
            log.error("the database cannot be written", metadata: ["error": "\(error)"])
            for call in calls {
                call.source.map { _ = close($0) }
                replica.abandon(call)
            }
            return nil
        }
        return calls
    }

    private func beginCall(_ number: ItemNumber) -> OutgoingCall? {
        do throws(ReplicaError) {
            switch try replica.beginCall(number, settle: options.settleSeconds) {
            case .send(let outgoing): return outgoing
            case .wait(.waits(let blocker)): uploadQueue.withLock { $0.wait(number, for: blocker) }
            case .wait(.later(let time)): if time.isFinite { uploadQueue.withLock { $0.wait(number, until: time) } }
            case .wait(.busy):
                uploadQueue.withLock { $0.wait(number, until: replica.now() + max(options.settleSeconds, 0.05)) }
            case .wait: break
            case .fetch(let absent): uploadQueue.withLock { $0.fetchesFirst.append((number, absent)) }
            }
        } catch {
            let retryAt = replica.now() + 5
            if replica.noteUnreadable(number, error.errno, retryAt: retryAt) {
                log.warning("an item cannot be read", metadata: ["item": "\(number)", "errno": "\(error.errno)"])
            }
            uploadQueue.withLock { $0.wait(number, until: retryAt) }
        }
        return nil
    }

    private func displace(_ number: ItemNumber) -> OutgoingCall? {
        do throws(ReplicaError) {
            return try replica.beginDisplacing(number)
        } catch {
            return nil  // It changed meanwhile; the next check decides again.
        }
    }

    private func uploadOrAbandon(_ call: OutgoingCall, _ sender: Sender) async {
        guard mayCall, !sender.isGivenUp else { return abandon(call) }
        await upload(call, by: sender)
        if !sender.isAbandoned { ended(call) }
    }

    /// Does not make a call that was begun.
    func abandon(_ call: OutgoingCall) {
        call.source.map { _ = close($0) }
        replica.abandon(call)
        ended(call)
    }

    func ended(_ call: OutgoingCall) {
        uploadQueue.withLock { uploadQueue in
            uploadQueue.inFlight -= 1
            uploadQueue.ended(call.number, now: replica.now())
        }
    }
}
