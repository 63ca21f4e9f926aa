/// Bytes of a file that are read without being kept on the disk.
package struct UncachedBytes: Sendable {
    package var bytes: [UInt8]
    /// The version of the content they belong to.
    package var version: String
}

/// The parts most recently fetched of files that are not kept on the disk: a bounded number of windows of bounded size.
struct UncachedWindows {
    struct Window {
        var number: ItemNumber
        var version: String
        var start: Int64
        var bytes: [UInt8]
        /// Seconds since 1970.
        var usedAt: Double

        var range: Range<Int64> { start..<start + Int64(bytes.count) }
    }
    private(set) var windows: [Window] = []
    /// The windows being fetched, at most one for each file.
    var running: [ItemNumber: Task<UncachedReadFailure?, Never>] = [:]

    /// The maximum number of windows.
    static let most = 8
    /// The size of a window in bytes, unless a larger range is read at once.
    static let size: Int64 = 2 << 20
    /// The number of seconds after which an unused window is dropped.
    static let idleSeconds = 10.0

    /// The bytes of a range, if one window contains all of them.
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

    /// Adds a window. If there are too many, it replaces the least recently used one.
    mutating func take(_ window: Window) {
        windows.append(window)
        guard windows.count > Self.most else { return }
        let oldest = windows.indices.min { windows[$0].usedAt < windows[$1].usedAt }
        if let oldest { windows.remove(at: oldest) }
    }

    /// Drops windows that are no longer read.
    mutating func dropIdle(now: Double) {
        windows.removeAll { abs(now - $0.usedAt) > Self.idleSeconds }
    }
}

/// Why a window could not be fetched.
struct UncachedReadFailure: Error {
    var error: RemoteStoreError
    var target: FetchTarget
}
