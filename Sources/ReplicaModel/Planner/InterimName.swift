/// The temporary names of items in the store while a cycle of moves is resolved: `.replica-moving-`, eight digits that
/// identify the domain, the item's number, and its local name. So a domain recognizes its own temporary names, and
/// knows their items, even if its database was lost.
struct InterimName {
    private let beginning: [UInt8]

    /// - Parameter mark: The domain's secret; the names reveal less than a quarter of it.
    init(mark: [UInt8]) {
        // FNV-1a, 32 bits.
        let hash = mark.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let digits = String(hash, radix: 16)
        beginning = Array((".replica-moving-" + String(repeating: "0", count: 8 - digits.count) + digits + "-").utf8)
    }

    /// A temporary name for an item.
    /// - Parameters:
    ///   - name: The item's local name.
    ///   - attempt: Each attempt gives a different name.
    func of(_ number: ItemNumber, _ name: FileName, attempt: Int, _ limit: ConflictNames) -> FileName {
        let label = attempt == 0 ? "\(number.rawValue)-" : "\(number.rawValue).\(attempt)-"
        return limit.after(beginning + Array(label.utf8), name)
    }

    func isInterim(_ name: FileName) -> Bool { meaning(of: name) != nil }

    /// The local name of an item that has this name in the store; nil if it is not a temporary name of this domain.
    func meaning(of name: FileName) -> FileName? {
        guard name.bytes.starts(with: beginning) else { return nil }
        let rest = name.bytes.dropFirst(beginning.count)
        guard let dash = rest.firstIndex(of: UInt8(ascii: "-")), dash > rest.startIndex,
            rest[..<dash].allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        let meant = FileName(bytes: Array(rest[(dash + 1)...]))
        return meant.isValid ? meant : nil
    }
}
