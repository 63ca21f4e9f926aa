extension Item {
    /// The maximum size that is accepted, in bytes (8 PiB): sums of such sizes do not overflow.
    static let largestSize: Int64 = 1 << 53
    /// The maximum length of a target for symlink(2), in bytes.
    private static let longestTarget = 4_095

    /// Why this is not a valid item of a store, in one line; nil if it is valid.
    var fault: String? {
        if let fault = identifier.fault { return fault }
        if parent == identifier { return "it is its own ancestor" }
        if parent != .root, parent != .trash, let fault = parent.fault { return fault }
        if !filename.isValid { return "its name is not valid" }
        return version.fault ?? contentFault ?? metadata.fault
    }

    private var contentFault: String? {
        switch kind {
        case .folder: return nil
        case .file: return (0...Self.largestSize).contains(size) ? nil : "its size is out of range"
        case .symlink:
            let target = target ?? []
            let isTarget = (1...Self.longestTarget).contains(target.count) && !target.contains(0)
            return isTarget ? nil : "its target is not valid"
        }
    }
}

extension ItemIdentifier {
    /// The maximum length of an identifier in bytes.
    private static let longest = 1_024

    /// Why this is not a valid identifier of a store; nil if it is valid. The engine reserves those that begin with
    /// `replica:`.
    var fault: String? {
        let length = rawValue.utf8.count
        let isText = !rawValue.utf8.contains(0)
        if length == 0 || length > Self.longest || !isText { return "its identifier is empty, too long or not text" }
        return rawValue.hasPrefix("replica:") ? "its identifier is reserved" : nil
    }
}

extension ItemVersion {
    /// The maximum length of each component in bytes.
    private static let longest = 128

    fileprivate var fault: String? {
        let parts = [content.utf8, metadata.utf8]
        let areTexts = parts.allSatisfy { $0.count <= Self.longest && !$0.contains(0) }
        return areTexts ? nil : "its version is too long or not text"
    }
}

extension ItemMetadata {
    /// The maximum length of an attribute's name in bytes (xattr(7)).
    private static let longestName = 255

    fileprivate var fault: String? {
        let names = extendedAttributes.map { Array($0.keys) } ?? []
        let areNames = names.allSatisfy { name in
            (1...Self.longestName).contains(name.utf8.count) && name != "user." && !name.utf8.contains(0)
        }
        return areNames ? nil : "an attribute's name is not valid"
    }
}
