package import SystemPackage

extension Domain {
    /// Keeps an item's content here, and that of everything below it, now and later: what is made, moved or changed
    /// there is fetched too. In force when this returns (MODEL.md#eviction); the fetching goes on behind it.
    /// - Throws: ENOENT; ENOTDIR; what ``list(_:)`` throws; EIO when the database can't be written.
    package func pin(_ path: [FileName]) async throws(Errno) { try await setPin(true, path) }

    /// The same, and returns when all that is pinned by it is here. One item that can't be had doesn't stop the others.
    /// - Parameter work: Told how far it has come.
    /// - Throws: As ``pin(_:)``; ENETDOWN when the domain is disconnected; EINTR when cancelled: it is in force then too.
    package func pinAndBring(_ path: [FileName], work: Work = Work()) async throws(Errno) -> Download {
        try await pin(path)
        return try await bringAll(at: path, isPinnedOnly: true, work)
    }

    /// Undoes ``pin(_:)`` for an item and what is below it, also inside of a pinned folder. In force when this returns.
    package func unpin(_ path: [FileName]) async throws(Errno) { try await setPin(false, path) }

    private func setPin(_ isPinned: Bool, _ path: [FileName]) async throws(Errno) {
        let held = try await hold(path, listing: true)
        defer { release(held) }
        try setPin(isPinned, ofItem: held.number)
    }

    /// Pins or unpins an item that programs have in use.
    /// - Throws: ESTALE when there is none of this number.
    package func setPin(_ isPinned: Bool, of number: ItemNumber) throws(Errno) {
        guard let own = replica.withTree({ $0.items[inode: number]?.number }) else { throw .staleNFSFileHandle }
        try setPin(isPinned, ofItem: own)
    }

    private func setPin(_ isPinned: Bool, ofItem number: ItemNumber) throws(Errno) {
        do {
            try replica.setPin(isPinned, of: number)
        } catch {
            throw Errno(state: error)
        }
        wakeSignal.signal()
    }
}
