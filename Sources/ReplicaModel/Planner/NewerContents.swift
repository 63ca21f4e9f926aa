/// A content in `kept/` that is newer than what the store went back to, or that is to be kept there.
struct NewerContent: Hashable, Sendable {
    var number: ItemNumber
    /// In bytes on the disk.
    var size: Int64
    /// The date of the content.
    var modified: Timestamp
    /// When it was moved to `kept/`.
    var keptAt: Timestamp
}

/// Decides which contents that are newer than the store's have a place in `kept/`. A store that goes back and forth must not fill
/// the disk, and for programs there must be room left: what has no place is deleted, as if the store's content was a newer one.
struct NewerContentsPlan: Hashable, Sendable {
    /// Whether the content is kept.
    var keeps = false
    /// The contents that give way to it.
    var removed: Set<NewerContent> = []

    static let mostFiles = 10_000
    /// They may use this part of the space that is free without them.
    static let partOfFree: Int64 = 4
    /// After this time a content gives way to newer ones, if there is no other room.
    static let days: Int64 = 30

    /// - Parameters:
    ///   - new: The content to be kept, which is on the disk already.
    ///   - kept: Those that are in `kept/`.
    ///   - free: The number of bytes that can still be written to the disk.
    init(_ new: NewerContent, among kept: [NewerContent], free: Int64, mostFiles: Int = mostFiles) {
        // Of each item the newest is kept.
        let former = kept.filter { $0.number == new.number }
        guard former.allSatisfy({ $0.modified < new.modified }) else { return }
        var staying = Set(kept).subtracting(former)
        let all = kept.reduce(new.size) { $0.saturatingAdd($1.size) }
        let most = max(0, free).saturatingAdd(all) / Self.partOfFree
        var size = staying.reduce(new.size) { $0.saturatingAdd($1.size) }
        func fits() -> Bool { size <= most && staying.count < mostFiles }
        let old = new.keptAt.nanoseconds.saturatingAdd(-Self.days * 86_400 * 1_000_000_000)
        for oldest in staying.sorted(by: { $0.keptAt < $1.keptAt }) {
            guard !fits(), oldest.keptAt.nanoseconds < old else { break }
            staying.remove(oldest)
            size -= oldest.size
        }
        guard fits() else { return }
        (keeps, removed) = (true, Set(kept).subtracting(staying))
    }
}
