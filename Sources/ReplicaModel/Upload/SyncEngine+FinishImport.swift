import Threads

extension SyncEngine {
    /// Tells the store once that all items of an import were sent (statements 16 and 17).
    func finishImport() async {
        guard state.withLock({ $0.isImporting && $0.reimports == 0 }), uploadQueue.withLock({ $0.inFlight == 0 }),
            !replica.isScanning, replica.endImport()
        else { return }
        state.withLock { $0.isImporting = false }
        await store.importDidFinish()
        replica.post(.importDidFinish)
    }
}
