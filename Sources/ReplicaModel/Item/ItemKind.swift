/// The kinds of items that are replicated. An item never changes its kind; a different kind under the same name is
/// another item.
public enum ItemKind: UInt8, Hashable, Sendable, Codable, CaseIterable {
    case file = 0
    case folder = 1
    case symlink = 2
}
