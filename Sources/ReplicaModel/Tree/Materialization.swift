/// How much of an item's content is here. A folder's content is its listing.
package enum Materialization: UInt8, Sendable {
    case whole = 0
    /// Some ranges of a file are here.
    case partial = 1
    case dataless = 2
}
