/// The names that items bear in the store for a moment, while a ring of moves is taken apart: `.replica-moving-`, eight
/// digits that are the domain's, the item's number, and what the item is called here. So a domain knows its own names
/// again whatever became of its database in between, and what they stand for.
struct PassingName {
    private let beginning: [UInt8]

    /// - Parameter mark: The domain's secret, of which the names give away less than a quarter.
    init(mark: [UInt8]) {
        // FNV-1a, 32 bits.
        let hash = mark.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let digits = String(hash, radix: 16)
        beginning = Array((".replica-moving-" + String(repeating: "0", count: 8 - digits.count) + digits + "-").utf8)
    }

    /// What an item may be called.
    /// - Parameters:
    ///   - name: What it is called here.
    ///   - attempt: Which of the names that may be: each is another.
    func of(_ number: ItemNumber, _ name: FileName, attempt: Int, _ limit: BouncedName) -> FileName {
        let label = attempt == 0 ? "\(number.rawValue)-" : "\(number.rawValue).\(attempt)-"
        return limit.after(beginning + Array(label.utf8), name)
    }

    func isPassing(_ name: FileName) -> Bool { meaning(of: name) != nil }

    /// What an item is called that has this name in the store; nil where that is no passing name of this domain.
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
