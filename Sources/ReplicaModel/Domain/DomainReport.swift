/// The state of a domain.
package struct DomainReport: Sendable, Hashable {
    /// What a domain is doing.
    package enum State: String, Sendable, Hashable {
        /// Its first replication after an import, or a reimport, is under way.
        case importing
        /// Changes are being transferred, in either direction.
        case syncing
        /// Nothing to do.
        case idle
        /// The store can't be used now, or there is no space. Everything local works; changes wait.
        case offline
        /// Disconnected by a person.
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
    /// Devices, sockets and fifos: they work here and are not replicated (MODEL.md#decisions).
    package var localOnly: Int
    /// The uploads; nil if there are none.
    package var uploads: TransferReport?
    /// The downloads; nil if there are none.
    package var downloads: TransferReport?
}

/// How far something has come: all transfers of one direction, since there was last none (MODEL.md#content, globalProgress),
/// or what a person asked for (``Work``).
package struct TransferReport: Sendable, Hashable {
    package var itemsDone: Int
    package var itemsTotal: Int
    package var bytesDone: Int64
    package var bytesTotal: Int64
    /// Mean over the last seconds.
    package var itemsPerSecond: Double
    /// Mean over the last seconds.
    package var bytesPerSecond: Double
    /// Seconds that the speeds are a mean over.
    package var seconds = 0.0
    /// Whether the totals are only what was found yet.
    package var isCounting = false

    /// Seconds until the end at this speed; nil when it means nothing: while it is counted, after less than three seconds,
    /// and where it would be days.
    package var secondsLeft: Double? {
        guard !isCounting, seconds >= Self.shortestMean else { return nil }
        let bytesLeft = Double(bytesTotal) - Double(bytesDone)
        let itemsLeft = Double(itemsTotal) - Double(itemsDone)
        // A large file is no item for long: then its bytes tell, and the other way round.
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
