/// Whether the user wants the content kept locally.
package enum Pin: UInt8, Sendable {
    /// As the parent folder.
    case inherited = 0
    case pinned = 1
    case unpinned = 2
}
