internal import SystemPackage

extension SyncEngine {
    /// Evicts a file whose content would be in the store even after a power cut.
    /// - Returns: The same as ``Replica/evictFile(_:)``.
    func evict(_ number: ItemNumber) throws(EvictionRefusal) -> Int64? {
        if let refusal = evictionRefusal(of: number) { throw refusal }
        guard replica.isConfirmed(number) else { throw .unsyncedEdits }
        return try replica.evictFile(number)
    }

    /// Why a file can't be evicted; nil if it can.
    func evictionRefusal(of number: ItemNumber) -> EvictionRefusal? {
        if let refusal = replica.evictionRefusal(of: number) { return refusal }
        guard replica.hasContent(number) else { return nil }
        guard isStoreAnswering else { return .storeUnavailable }
        do {
            return try replica.isDeletedInStore(number) ? .deletedInStore : nil
        } catch {
            return .failed(Errno(state: error))
        }
    }
}
