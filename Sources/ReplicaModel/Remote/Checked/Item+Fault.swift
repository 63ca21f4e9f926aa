extension Item {
    /// The largest size that is taken for one, in bytes (8 PiB): sums of such sizes can still be made.
    static let largestSize: Int64 = 1 << 53
    /// Bytes of the longest target that symlink(2) takes.
    private static let longestTarget = 4_095

    /// Why this cannot be an item of a store, in one line; nil when it can.
    var fault: String? {
        if let fault = identifier.fault { return fault }
        if parent == identifier { return "it is in itself" }
        if parent != .root, parent != .trash, let fault = parent.fault { return fault }
        if !filename.isValid { return "its name cannot stand here" }
        return version.fault ?? contentFault ?? metadata.fault
    }

    private var contentFault: String? {
        switch kind {
        case .folder: return nil
        case .file: return (0...Self.largestSize).contains(size) ? nil : "its size cannot be one"
        case .symlink:
            let target = target ?? []
            let isTarget = (1...Self.longestTarget).contains(target.count) && !target.contains(0)
            return isTarget ? nil : "its target cannot be one"
        }
    }
}

extension ItemIdentifier {
    /// Bytes that an identifier may have.
    private static let longest = 1_024

    /// Why a store cannot call an item this; nil when it can. What begins with `replica:` are names of the engine's own.
    var fault: String? {
        let length = rawValue.utf8.count
        let isText = !rawValue.utf8.contains(0)
        if length == 0 || length > Self.longest || !isText { return "its identifier is empty, too long or no text" }
        return rawValue.hasPrefix("replica:") ? "its identifier is not the store's to give" : nil
    }
}

extension ItemVersion {
    /// Bytes that each part may have.
    private static let longest = 128

    fileprivate var fault: String? {
        let parts = [content.utf8, metadata.utf8]
        let areTexts = parts.allSatisfy { $0.count <= Self.longest && !$0.contains(0) }
        return areTexts ? nil : "its version is too long or no text"
    }
}

extension ItemMetadata {
    /// Bytes that the name of an attribute may have (xattr(7)).
    private static let longestName = 255

    fileprivate var fault: String? {
        let names = extendedAttributes.map { Array($0.keys) } ?? []
        let areNames = names.allSatisfy { name in
            (1...Self.longestName).contains(name.utf8.count) && name != "user." && !name.utf8.contains(0)
        }
        return areNames ? nil : "an attribute's name cannot be one"
    }
}
