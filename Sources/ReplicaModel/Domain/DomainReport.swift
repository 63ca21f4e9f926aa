/// The state of a domain. Large: a field for each one of the printed status.
package struct DomainReport: Sendable, Hashable {
    /// The activity of a domain.
    package enum State: String, Sendable, Hashable {
        /// Its first replication after an import, or a reimport, is under way.
        case importing
        /// Changes are being transferred, in either direction.
        case syncing
        /// Nothing to do.
        case idle
        /// The store can't be used now, or there is no space. Everything local works; changes wait.
        case offline
        /// Disconnected by the user.
        case disconnected
        /// A mass deletion waits for ``Domain/approve()``.
        case held
    }
    package var state: State
    /// The reason, in one line, if there is one.
    package var reason: String?
    /// When failed items are retried; nil if there are none, or all wait for the user or an edit.
    package var nextTry: Timestamp?
    /// Items with something not yet in the store.
    package var pending: Int
    /// Items whose last attempt failed, and names in the store that are not valid here.
    package var errors: Int
    /// Unresolved conflicts.
    package var conflicts: Int
    /// Items, without the root.
    package var items: Int
    /// Bytes of all files, local or not.
    package var bytes: Int64
    /// Bytes of content on this disk.
    package var bytesHere: Int64
    /// Items that are not replicated: devices, sockets and fifos (MODEL.md#decisions), and what the store can't keep or excludes.
    package var localOnly: Int
    /// Files in the state's `kept/`: local bytes that must not stay in the tree and may exist nowhere else.
    package var kept: Int
    /// The uploads; nil if there are none.
    package var uploads: TransferReport?
    /// The downloads; nil if there are none.
    package var downloads: TransferReport?
}

/// Progress: of all transfers in one direction since the last idle moment (MODEL.md#content, globalProgress), or of a
/// user's request (``RequestProgress``).
package struct TransferReport: Sendable, Hashable {
    package var itemsDone: Int
    package var itemsTotal: Int
    package var bytesDone: Int64
    package var bytesTotal: Int64
    /// Mean over the last seconds.
    package var itemsPerSecond: Double
    /// Mean over the last seconds.
    package var bytesPerSecond: Double
    /// The period of the mean speeds, in seconds.
    package var seconds = 0.0
    /// Whether the totals may still grow because counting has not ended.
    package var isCounting = false

    /// Seconds until the end at this speed; nil if it would be meaningless: during the count, in the first three
    /// seconds, and if it would be days.
    package var secondsLeft: Double? {
        guard !isCounting, seconds >= Self.shortestMean else { return nil }
        let bytesLeft = Double(bytesTotal) - Double(bytesDone)
        let itemsLeft = Double(itemsTotal) - Double(itemsDone)
        // The slower of the two counts: a large file completes no item for a long time, many small files transfer few
        // bytes.
        if bytesLeft > 0, bytesPerSecond <= 0 { return nil }
        let times = [(bytesLeft, bytesPerSecond), (itemsLeft, itemsPerSecond)].filter { $0.0 > 0 && $0.1 > 0 }
        guard let longest = times.map({ $0.0 / $0.1 }).max(), longest <= Self.longestEstimate else { return nil }
        return longest
    }

    private static let shortestMean = 3.0
    private static let longestEstimate = 48.0 * 3600

    /// Both together.
    package static func + (left: TransferReport, right: TransferReport) -> TransferReport {
        TransferReport(
            itemsDone: left.itemsDone + right.itemsDone, itemsTotal: left.itemsTotal + right.itemsTotal,
            bytesDone: left.bytesDone.saturatingAdd(right.bytesDone),
            bytesTotal: left.bytesTotal.saturatingAdd(right.bytesTotal),
            itemsPerSecond: left.itemsPerSecond + right.itemsPerSecond,
            bytesPerSecond: left.bytesPerSecond + right.bytesPerSecond, seconds: min(left.seconds, right.seconds),
            isCounting: left.isCounting || right.isCounting)
    }
}
