internal import GRDB
internal import Logging
internal import Threads

/// Whether the store is the one that the domain began with.
extension SyncEngine {
    /// Verifies that this is still the same store, unless it was verified already. Changes sent to another store would
    /// be missing in the right one, and items that another store lacks were not deleted.
    func recognizeStore() async throws(RemoteStoreError) {
        guard !state.withLock({ $0.pulls.isStoreRecognized }) else { return }
        if let anchor = replica.lastAnchor() {
            do throws(RemoteStoreError) {
                try await store.recognize(anchor)
            } catch {
                guard isAllowed(error) else { throw error }
            }
        }
        state.withLock { $0.pulls.isStoreRecognized = true }
        wakeSignal.signal()
    }

    /// Asks the store again whether it is the right one.
    func recognizeAgain() async {
        do throws(RemoteStoreError) {
            if state.withLock({ $0.pulls.isStoreRecognized }), let anchor = replica.lastAnchor() {
                try await store.recognize(anchor)
            } else {
                try await recognizeStore()
            }
        } catch {
            // Who gave up knows no more than before.
            if error != .cancelled { noteRecognitionFailure(error) }
        }
    }

    /// Records whether the store is another one, or can't be reached: what only it had may be lost.
    func noteDoubt(_ isInDoubt: Bool) {
        let isNew = state.withLock { state in
            defer { state.pulls.isStoreInDoubt = isInDoubt }
            return state.pulls.isStoreInDoubt != isInDoubt
        }
        guard isNew else { return }
        do {
            // The last of several writes has the present state.
            try replica.database.write { rows in
                let isInDoubt = state.withLock { $0.pulls.isStoreInDoubt } ?? isInDoubt
                try Meta.storeInDoubt.write(isInDoubt ? "1" : nil, to: rows)
            }
        } catch {
            state.withLock { $0.pulls.isStoreInDoubt = nil }
            log.error("the database cannot be written", metadata: ["error": "\(error)"])
        }
    }

    /// The store could not confirm its identity, or denied it: nothing is sent until it does.
    func noteRecognitionFailure(_ error: RemoteStoreError) {
        state.withLock { state in
            if case .cannotSynchronize = error { state.pulls.isStoreRecognized = false }
            state.pulls.isWanted = true
        }
        noteStoreFailure(error, isOfRecognition: true)
    }

    /// Whether the user accepted the store's present content as the domain's.
    func isAllowed(_ error: RemoteStoreError) -> Bool {
        guard case .cannotSynchronize = error else { return false }
        return state.withLock { $0.pulls.takesOtherStore }
    }
}
