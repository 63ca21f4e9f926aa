/// What can be replicated. An item never changes its kind; another kind under the same name is another item.
public enum ItemKind: UInt8, Hashable, Sendable, Codable, CaseIterable {
    case file = 0
    case folder = 1
    case symlink = 2
}
