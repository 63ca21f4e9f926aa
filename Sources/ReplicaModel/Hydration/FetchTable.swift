internal import SystemPackage

/// The running fetches, and the readers that wait for their bytes.
struct FetchTable {
    struct Waiter {
        var range: Range<Int64>
        var continuation: CheckedContinuation<Errno?, Never>
    }
    private var running: [ItemNumber: [Range<Int64>]] = [:]
    private(set) var waiters: [ItemNumber: [UInt64: Waiter]] = [:]
    private var lastWaiter: UInt64 = 0
    /// The last fetches that failed.
    var failed = FailedFetches()

    /// Whether nothing is being fetched.
    var isEmpty: Bool { running.isEmpty }

    /// Begins a fetch, unless one that runs already brings some of the bytes that are needed.
    /// - Parameters:
    ///   - range: The bytes to be fetched, which may be more than the needed ones.
    /// - Returns: Whether it was begun.
    mutating func begin(_ range: Range<Int64>, needed: Range<Int64>, of number: ItemNumber) -> Bool {
        guard running[number]?.contains(where: { $0.overlaps(needed) }) != true else { return false }
        running[number, default: []].append(range)
        return true
    }

    /// Ends a fetch.
    /// - Returns: All who wait for the file: each checks whether its bytes are local.
    mutating func end(_ range: Range<Int64>, of number: ItemNumber) -> [CheckedContinuation<Errno?, Never>] {
        running[number]?.removeAll { $0 == range }
        if running[number]?.isEmpty == true { running[number] = nil }
        return waiters.removeValue(forKey: number)?.values.map(\.continuation) ?? []
    }

    /// A key for ``wait(_:_:of:for:)``.
    mutating func newKey() -> UInt64 {
        lastWaiter += 1
        return lastWaiter
    }

    /// Adds a reader.
    /// - Returns: False if nothing of the file is being fetched any more.
    mutating func wait(
        _ key: UInt64, _ continuation: CheckedContinuation<Errno?, Never>, of number: ItemNumber,
        for range: Range<Int64>
    ) -> Bool {
        guard running[number] != nil else { return false }
        waiters[number, default: [:]][key] = Waiter(range: range, continuation: continuation)
        return true
    }

    /// Removes a reader that no longer waits; nil if it was already served.
    mutating func leave(_ key: UInt64, of number: ItemNumber) -> CheckedContinuation<Errno?, Never>? {
        waiters[number]?.removeValue(forKey: key)?.continuation
    }

    /// Removes the readers of bytes that have arrived while the fetch continues.
    mutating func takeServed(_ range: Range<Int64>, of number: ItemNumber) -> [CheckedContinuation<Errno?, Never>] {
        let ready = waiters[number]?.filter { $0.value.range.overlaps(range) || $0.value.range.isEmpty } ?? [:]
        for key in ready.keys { waiters[number]?[key] = nil }
        return ready.values.map(\.continuation)
    }
}
