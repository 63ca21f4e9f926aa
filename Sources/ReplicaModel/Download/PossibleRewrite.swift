/// Whether a file's bytes in the store may differ from the local ones although its content version is the same
/// (``StoreProperties/reportsEveryContentChange``).
enum PossibleRewrite: Int, Codable, Comparable {
    /// The version is reliable.
    case no
    /// The bytes may differ if the metadata version changed, because the change was not observed. That is a reason to
    /// compare, but not to doubt an edit.
    case ifTouched
    /// The store's feed says so.
    case told
    /// They were compared and differ.
    case proven

    static func < (left: PossibleRewrite, right: PossibleRewrite) -> Bool { left.rawValue < right.rawValue }
}

extension Tree {
    /// Whether the file's bytes may not be those of the item, regardless of the version.
    func mayBeRewritten(_ node: Node, _ item: Item, _ rewrite: PossibleRewrite) -> Bool {
        guard node.kind == .file, item.size > 0, let base = node.base, base.version.content == item.version.content
        else { return false }
        switch rewrite {
        case .no: return false
        case .ifTouched:
            settle(node)
            let isEdited = node.isDeleted || node.dirty.contains(.contents) || !node.flags.isDisjoint(with: .inDoubt)
            return base.version.metadata != item.version.metadata && !isEdited
        case .told, .proven: return true
        }
    }

    /// Whether it has to be compared first: only a complete, unedited local file can be.
    func needsComparison(_ node: Node) -> Bool {
        guard node.materialization == .whole, !node.isDeleted else { return false }
        settle(node)
        return !node.dirty.contains(.contents)
    }
}
