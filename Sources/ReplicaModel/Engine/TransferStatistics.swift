/// The transfers since the last idle moment (MODEL.md#content, globalProgress).
struct TransferStatistics {
    struct Upload {
        var done: Int64 = 0
        var size: Int64 = 0
    }
    struct Fetch {
        var done: Int64 = 0
        var size: Int64 = 0
        var calls = 0
    }
    /// What was sent.
    private(set) var sentItems = 0
    private(set) var sentBytes: Int64 = 0
    private(set) var sending = RateMeter()
    /// Contents in transfer.
    private(set) var uploads: [ItemNumber: Upload] = [:]
    /// Calls that the store has answered, with their bytes, until the replica has recorded the answer. They count as
    /// sent, although their items may still be pending.
    private(set) var answered: [ItemNumber: Int64] = [:]
    /// Completed fetches.
    private(set) var fetchedItems = 0
    private(set) var fetchedBytes: Int64 = 0
    private(set) var fetches: [ItemIdentifier: Fetch] = [:]
    private(set) var fetching = RateMeter()

    /// Bytes of the current uploads that the store has accepted.
    func uploading(where isMeant: (ItemNumber) -> Bool = { _ in true }) -> Int64 {
        uploads.reduce(0) { isMeant($1.key) ? $0.saturatingAdd($1.value.done) : $0 }
    }

    mutating func beginUpload(_ item: ItemNumber, size: Int64) { uploads[item] = Upload(size: size) }

    /// - Parameter done: Bytes from the beginning.
    mutating func uploaded(_ done: Int64, of item: ItemNumber, now: Double) {
        guard let before = uploads[item]?.done else { return }
        uploads[item]?.done = done
        if done > before { sending.add(items: 0, bytes: done - before, now: now) }
    }

    /// The store has answered a call; ``endCall(_:isTakenIn:)`` follows.
    mutating func answer(_ item: ItemNumber, bytes: Int64, now: Double) {
        let before = uploads.removeValue(forKey: item)?.done ?? 0
        answered[item] = bytes
        sentItems += 1
        sentBytes = sentBytes.saturatingAdd(bytes)
        sending.add(items: 1, bytes: max(0, bytes - before), now: now)
    }

    /// - Parameter isTakenIn: Whether the replica recorded the answer; otherwise the call is made again.
    mutating func endCall(_ item: ItemNumber, isTakenIn: Bool) {
        guard let bytes = answered.removeValue(forKey: item) else {
            uploads[item] = nil
            return
        }
        guard !isTakenIn else { return }
        sentItems = max(0, sentItems - 1)
        sentBytes = max(0, sentBytes - bytes)
    }

    mutating func endSending() { (sentItems, sentBytes) = (0, 0) }

    mutating func beginFetch(_ item: ItemIdentifier, size: Int64) {
        if fetches.isEmpty { (fetchedItems, fetchedBytes) = (0, 0) }
        var fetch = fetches[item] ?? Fetch()
        fetch.size = fetch.size.saturatingAdd(size)
        fetch.calls += 1
        fetches[item] = fetch
    }

    mutating func fetched(_ bytes: Int64, of item: ItemIdentifier, now: Double) {
        if let done = fetches[item]?.done { fetches[item]?.done = done.saturatingAdd(bytes) }
        fetching.add(items: 0, bytes: bytes, now: now)
    }

    mutating func endFetch(_ item: ItemIdentifier, now: Double) {
        guard var fetch = fetches[item] else { return }
        fetch.calls -= 1
        guard fetch.calls == 0 else {
            fetches[item] = fetch
            return
        }
        fetches[item] = nil
        fetchedItems += 1
        fetchedBytes = fetchedBytes.saturatingAdd(fetch.done)
        fetching.add(items: 1, bytes: 0, now: now)
    }
}
