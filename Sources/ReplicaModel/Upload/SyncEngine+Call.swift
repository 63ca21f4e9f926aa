internal import Threads

extension SyncEngine {
    /// What the store answered to a call.
    enum Answer: Sendable {
        case result(StoreResult)
        /// To the question whether an earlier call arrived.
        case item(Item?)
        case deleted
    }

    /// Makes a call, which ends in bounded time if it has a sender.
    /// - Parameters:
    ///   - contents: Valid until the call has ended, even if nobody waits for it any more.
    ///   - asked: ``Replica/answers`` when the call began.
    /// - Returns: Nil if the store did not answer in time. The failure is recorded already then, and the sender must end.
    /// - Throws: The store's error, or that of the watch.
    func answer(
        to call: OutgoingCall, _ contents: ItemContents?, _ sender: Sender?, asked: UInt64
    ) async throws(RemoteStoreError) -> Answer? {
        guard let sender, !options.isSequential else { return try await make(call, contents) }
        let progress = sender.progress
        let heard = contents.map { contents in
            ItemContents(file: contents.file, size: contents.size) { [callTimeouts] done in
                callTimeouts.hear(progress)
                contents.progress(done)
            }
        }
        let answer = try await callTimeouts.callInPlace(
            .init(kind: .change, identifier: call.template.identifier), progress, cancel: { sender.cancel() },
            abandon: { self.finishAbandonedCall(of: sender, call, $0, asked: asked) },
            body: { () async throws(RemoteStoreError) in try await make(call, heard) })
        if answer == nil { sender.stop() }
        return answer
    }

    private func make(_ call: OutgoingCall, _ contents: ItemContents?) async throws(RemoteStoreError) -> Answer {
        switch call.call {
        case .create(let options):
            return .result(
                try await store.createItem(
                    basedOn: call.template, fields: call.fields, contents: contents, options: options))
        case .modify(let base):
            return .result(
                try await store.modifyItem(
                    call.template, base: base, changedFields: call.fields, contents: contents))
        case .resolve where call.isOfKnownItem: return .item(try await store.item(call.template.identifier))
        case .resolve: return .item(try await store.itemCreated(from: call.template))
        case .delete(let base):
            try await store.deleteItem(call.template.identifier, base: base)
            return .deleted
        }
    }

    /// Does what a sender would have done after a call that does not end.
    private func finishAbandonedCall(of sender: Sender, _ call: OutgoingCall, _ error: RemoteStoreError, asked: UInt64)
    {
        let rest = sender.abandon()
        background.start { [self] in
            statistics.withLock { $0.endCall(call.number, isTakenIn: false) }
            await failed(call, error, asked)
            ended(call)
            for call in rest { abandon(call) }
            releaseSender()
        }
    }
}
