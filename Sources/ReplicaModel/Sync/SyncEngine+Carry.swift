internal import Glibc
internal import Logging
internal import SystemPackage

extension SyncEngine {
    /// Makes one call of the store and records what came of it.
    func carry(_ call: Outgoing) async {
        do throws(RemoteStoreError) {
            let contents = try await snapshot(call)
            defer { contents.map(close) }
            if call.source != nil, contents == nil { return replica.abandon(call) }
            let noted = replica.incomingSequence(of: call.template.identifier)
            switch call.call {
            case .create(let options):
                let result = try await store.createItem(
                    basedOn: call.template, fields: call.fields, contents: contents, options: options)
                try take(try recorded { () throws(Obstacle) in try replica.finish(call, result) })
            case .modify(let base):
                let result = try await store.modifyItem(
                    call.template, base: base, changedFields: call.fields, contents: contents, options: [])
                try take(try recorded { () throws(Obstacle) in try replica.finish(call, result) })
            case .resolve:
                let item =
                    call.isOfKnownItem
                    ? try await store.item(call.template.identifier)
                    : try await store.itemCreated(from: call.template)
                try take(try recorded { () throws(Obstacle) in try replica.finishResolving(call, item) })
            case .delete(let base):
                try await store.deleteItem(call.template.identifier, base: base, options: [])
                replica.finishDeletion(call)
            }
            // What the store said before it answered is older than the answer.
            if let noted, call.call != .resolve { replica.forgetIncoming(call.template.identifier, noted) }
            replica.keepRefused(call.number)
            clearTrouble()
        } catch {
            await failed(call, error)
        }
        state.withLock { $0.uploads[call.number] = nil }
    }

    /// Has the store's own state of an item applied where it differs from what was sent.
    private func take(_ item: Item?) throws(RemoteStoreError) {
        guard let item else { return }
        try replica.noteIncoming([Incoming(identifier: item.identifier, item: item)], anchor: nil)
        bell.ring()
    }

    /// What goes wrong below while an answer is recorded is a passing failure of this side.
    private func recorded<Value>(_ body: () throws(Obstacle) -> Value) throws(RemoteStoreError) -> Value {
        do throws(Obstacle) {
            return try body()
        } catch {
            throw .cannotSynchronize("the tree cannot be changed: \(error.errno)")
        }
    }

    private func failed(_ call: Outgoing, _ error: RemoteStoreError) async {
        log.info("not sent", metadata: ["item": "\(call.number)", "error": "\(error.code)"])
        do throws(Obstacle) {
            let jitter = random()
            let aftermath = try replica.fail(call, error) { Backoff.delay(attempts: $0, jitter: jitter) }
            switch aftermath {
            case .nothing: break
            case .holdBack: noteTrouble(error)
            case .apply(let item): await note(item.identifier, item)
            case .deleted(let identifier): await note(identifier, nil)
            case .ask(let identifier): await ask(identifier)
            }
        } catch {
            log.warning("an item cannot be changed", metadata: ["item": "\(call.number)", "errno": "\(error.errno)"])
        }
    }

    private func note(_ identifier: ItemIdentifier, _ item: Item?) async {
        do throws(RemoteStoreError) {
            try replica.noteIncoming([Incoming(identifier: identifier, item: item)], anchor: nil)
        } catch {
            noteTrouble(error)
        }
        bell.ring()
    }

    /// Asks the store what an item is now.
    func ask(_ identifier: ItemIdentifier) async {
        do throws(RemoteStoreError) {
            await note(identifier, try await store.item(identifier))
        } catch {
            if case .noSuchItem(identifier) = error {
                await note(identifier, nil)
            } else {
                noteTrouble(error)
                state.withLock { $0.isPullWanted = true }
            }
        }
    }

    private func close(_ contents: ItemContents) { Glibc.close(contents.file.rawValue) }

    // MARK: Trouble of the whole domain

    /// Holds everything back for a while.
    func noteTrouble(_ error: RemoteStoreError) {
        let jitter = random()
        state.withLock { state in
            let attempts = (state.trouble?.attempts ?? 0) + 1
            let retryAt = replica.now() + Backoff.delay(attempts: attempts, jitter: jitter)
            state.trouble = Failure(code: error.code, message: error.code, attempts: attempts, retryAt: retryAt)
        }
    }

    /// The store answered: what was held back goes on at once.
    func clearTrouble() {
        let wasTroubled = state.withLock { state in
            defer { state.trouble = nil }
            return state.trouble != nil
        }
        guard wasTroubled else { return }
        retryAll()
    }

    /// Tries everything again that waits after a failure.
    func retryAll() {
        board.withLock { $0.add(replica.forgiveFailures()) }
        bell.ring()
    }
}
