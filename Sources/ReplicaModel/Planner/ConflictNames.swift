/// Names for items whose own name is taken, and for conflict copies (MODEL.md#decisions), within the store's limit of length.
struct ConflictNames {
    private let longest: Int

    /// - Parameter longest: The store's ``StoreProperties/longestName``; values out of range are clamped.
    init(longest: Int = 255) {
        self.longest = min(max(longest, Self.least), 255)
    }

    /// The minimum limit in bytes, which leaves space for the suffix.
    private static let least = 80

    /// `stem 2.ext`, `stem 3.ext`, ...: the first one that is free.
    func free(besides name: FileName, isTaken: (FileName) -> Bool) -> FileName {
        free(name, isTaken: isTaken) { " \($0 + 1)" }
    }

    /// `stem (conflict HOST YYYY-MM-DD).ext`, with a number if that is taken.
    func conflict(of name: FileName, host: String, day: String, isTaken: (FileName) -> Bool) -> FileName {
        free(name, isTaken: isTaken) { $0 == 1 ? " (conflict \(host) \(day))" : " (conflict \(host) \(day) \($0))" }
    }

    private func free(
        _ name: FileName, isTaken: (FileName) -> Bool, suffix: (Int) -> String
    ) -> FileName {
        var count = 1
        while true {
            let candidate = insert(suffix(count), into: name)
            if !isTaken(candidate) { return candidate }
            count += 1
        }
    }

    /// Inserts `suffix` before the extension. If the name gets too long, the stem is shortened at a character boundary.
    private func insert(_ suffix: String, into name: FileName) -> FileName {
        let (stem, end) = cut(name, by: suffix.utf8.count)
        return FileName(bytes: stem + Array(suffix.utf8) + end)
    }

    /// Inserts `beginning` before a name. If it gets too long, the stem is shortened.
    func after(_ beginning: [UInt8], _ name: FileName) -> FileName {
        let (stem, end) = cut(name, by: beginning.count)
        return FileName(bytes: beginning + stem + end)
    }

    /// Splits a name into the stem, shortened to leave space for `count` bytes, and the extension.
    private func cut(_ name: FileName, by count: Int) -> (stem: [UInt8], end: [UInt8]) {
        let bytes = name.bytes
        let dot = bytes.lastIndex(of: 0x2E) ?? 0
        let hasExtension = dot > 0 && bytes.count - dot <= 17
        let end = hasExtension ? Array(bytes[dot...]) : []
        let stem = hasExtension ? Array(bytes[..<dot]) : bytes
        let room = longest - count - end.count
        guard stem.count > room else { return (stem, end) }
        var cut = room
        // Cut at a character boundary.
        while cut > 0, stem[cut] & 0xC0 == 0x80 { cut -= 1 }
        return (Array(stem[..<cut]), end)
    }
}
