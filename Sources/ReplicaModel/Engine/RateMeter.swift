/// The mean speed over the last seconds.
struct RateMeter {
    /// Items and bytes a second.
    struct Rate: Hashable {
        var items = 0.0
        var bytes = 0.0
        /// The period of the mean in seconds; 0 if nothing was transferred recently.
        var seconds = 0.0
    }
    private struct Second {
        var time: Int64
        var items: Int
        var bytes: Int64
    }
    private var seconds: [Second] = []

    /// The maximum period of the mean, in seconds.
    private static let window: Int64 = 10

    mutating func add(items: Int, bytes: Int64, now: Double) {
        let time = Int64(now)
        if seconds.last?.time != time { seconds.append(Second(time: time, items: 0, bytes: 0)) }
        let last = seconds.count - 1
        seconds[last].items += items
        seconds[last].bytes = seconds[last].bytes.saturatingAdd(bytes)
        if seconds.count > Self.window { seconds.removeFirst(seconds.count - Int(Self.window)) }
    }

    func rate(now: Double) -> Rate {
        let recent = seconds.filter { $0.time > Int64(now) - Self.window }
        guard let first = recent.first else { return Rate() }
        let span = max(1, now - Double(first.time))
        return Rate(
            items: Double(recent.reduce(0) { $0 + $1.items }) / span,
            bytes: recent.reduce(0) { $0 + Double($1.bytes) } / span, seconds: span)
    }
}
