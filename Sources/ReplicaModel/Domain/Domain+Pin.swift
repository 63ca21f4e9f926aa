package import SystemPackage

extension Domain {
    /// Keeps an item's content and that of everything below it local, now and in future: items that are created, moved
    /// or changed there are fetched too. Takes effect before this returns (MODEL.md#eviction); fetching continues in
    /// the background.
    /// - Throws: ENOENT; ENOTDIR; the errors of ``list(_:)``; EIO if the database can't be written.
    package func pin(_ path: [FileName]) async throws(Errno) { try await setPin(true, path) }

    /// Like ``pin(_:)``, but returns when everything pinned by it is local. An item that can't be downloaded doesn't
    /// stop the others.
    /// - Parameter work: Receives the progress.
    /// - Throws: As ``pin(_:)``; ENETDOWN if the domain is disconnected; EINTR if cancelled, in which case the pin
    ///   stays.
    package func pinAndDownload(_ path: [FileName], work: RequestProgress = RequestProgress()) async throws(Errno)
        -> Download
    {
        try await pin(path)
        return try await downloadAll(at: path, isPinnedOnly: true, work)
    }

    /// Undoes ``pin(_:)`` for an item and everything below it, also inside a pinned folder. Takes effect before this
    /// returns.
    package func unpin(_ path: [FileName]) async throws(Errno) { try await setPin(false, path) }

    private func setPin(_ isPinned: Bool, _ path: [FileName]) async throws(Errno) {
        let held = try await hold(path, listing: true)
        defer { release(held) }
        try setPin(isPinned, ofItem: held.number)
    }

    /// Pins or unpins an item that programs have in use.
    /// - Throws: ESTALE if there is no item with this number.
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
