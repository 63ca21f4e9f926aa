/// Bytes of a file that are read and not kept.
package struct PassingBytes: Sendable {
    package var bytes: [UInt8]
    /// The content version that they are of.
    package var version: String
}

/// What was last fetched of files that are not kept: a bounded number of windows, each of a bounded size.
struct PassingWindows {
    struct Window {
        var number: ItemNumber
        var version: String
        var start: Int64
        var bytes: [UInt8]
        /// In seconds since 1970.
        var usedAt: Double

        var range: Range<Int64> { start..<start + Int64(bytes.count) }
    }
    private(set) var windows: [Window] = []
    /// The windows that are on their way, one for a file.
    var running: [ItemNumber: Task<PassingFailure?, Never>] = [:]

    /// How many windows there are at the most.
    static let most = 8
    /// Bytes of a window, unless more is read at once.
    static let size: Int64 = 2 << 20
    /// Seconds that a window stays that nobody reads.
    static let idleSeconds = 10.0

    /// The bytes of a range, if a window has them all.
    mutating func bytes(_ range: Range<Int64>, of number: ItemNumber, version: String, now: Double) -> [UInt8]? {
        let found = windows.firstIndex { window in
            window.number == number && window.version == version && window.start <= range.lowerBound
                && range.upperBound <= window.range.upperBound
        }
        guard let found else { return nil }
        windows[found].usedAt = now
        let start = Int(range.lowerBound - windows[found].start)
        return Array(windows[found].bytes[start..<start + range.count])
    }

    /// Takes a window in, in the place of the one that was used longest ago if there are too many.
    mutating func take(_ window: Window) {
        windows.append(window)
        guard windows.count > Self.most else { return }
        let oldest = windows.indices.min { windows[$0].usedAt < windows[$1].usedAt }
        if let oldest { windows.remove(at: oldest) }
    }

    /// Lets go of what nobody reads any more.
    mutating func dropIdle(now: Double) {
        windows.removeAll { abs(now - $0.usedAt) > Self.idleSeconds }
    }
}

/// Why a window did not come.
struct PassingFailure: Error {
    var error: RemoteStoreError
    var target: FetchTarget
}
