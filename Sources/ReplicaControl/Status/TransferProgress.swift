/// The progress of one transfer, or of all together.
package struct TransferProgress: Codable, Equatable, Sendable {
    package var itemsDone: Int
    package var itemsTotal: Int
    package var bytesDone: Int64
    package var bytesTotal: Int64
    /// Mean over the last seconds.
    package var bytesPerSecond: Double
    /// Mean over the last seconds.
    package var itemsPerSecond: Double
    /// Nil if it is unknown.
    package var secondsLeft: Double?
    /// True while the totals are still growing; otherwise omitted.
    package var counting: Bool?
    /// Why it does not continue, in one line; nil if nothing keeps it.
    package var reason: String?

    /// Counts so far; rates are 0 until there are some.
    package init(
        itemsDone: Int, itemsTotal: Int, bytesDone: Int64, bytesTotal: Int64, bytesPerSecond: Double = 0,
        itemsPerSecond: Double = 0, secondsLeft: Double? = nil, counting: Bool? = nil
    ) {
        self.itemsDone = itemsDone
        self.itemsTotal = itemsTotal
        self.bytesDone = bytesDone
        self.bytesTotal = bytesTotal
        self.bytesPerSecond = bytesPerSecond
        self.itemsPerSecond = itemsPerSecond
        self.secondsLeft = secondsLeft
        self.counting = counting
    }
}
