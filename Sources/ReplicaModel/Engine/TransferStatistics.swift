/// How much was carried since there was last nothing to carry (MODEL.md#content, globalProgress).
struct TransferStatistics {
    struct Fetch {
        var done: Int64 = 0
        var size: Int64 = 0
        var calls = 0
    }
    /// What was sent.
    var sentItems = 0
    var sentBytes: Int64 = 0
    var sending = Meter()
    /// What was fetched, but for the fetches under way.
    private(set) var fetchedItems = 0
    private(set) var fetchedBytes: Int64 = 0
    private(set) var fetches: [ItemIdentifier: Fetch] = [:]
    private(set) var fetching = Meter()

    mutating func sent(bytes: Int64, now: Double) {
        sentItems += 1
        sentBytes = sentBytes.saturatingAdd(bytes)
        sending.add(items: 1, bytes: bytes, now: now)
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

/// The mean speed over the last seconds.
struct Meter {
    private struct Second {
        var time: Int64
        var items: Int
        var bytes: Int64
    }
    private var seconds: [Second] = []

    /// Seconds that the mean is over.
    private static let window: Int64 = 10

    mutating func add(items: Int, bytes: Int64, now: Double) {
        let time = Int64(now)
        if seconds.last?.time != time { seconds.append(Second(time: time, items: 0, bytes: 0)) }
        seconds[seconds.count - 1].items += items
        let last = seconds.count - 1
        seconds[last].bytes = seconds[last].bytes.saturatingAdd(bytes)
        if seconds.count > Self.window { seconds.removeFirst(seconds.count - Int(Self.window)) }
    }

    /// Items and bytes a second.
    func rate(now: Double) -> (items: Double, bytes: Double) {
        let recent = seconds.filter { $0.time > Int64(now) - Self.window }
        guard let first = recent.first else { return (0, 0) }
        let span = max(1, now - Double(first.time))
        return (
            Double(recent.reduce(0) { $0 + $1.items }) / span, recent.reduce(0) { $0 + Double($1.bytes) } / span
        )
    }
}
