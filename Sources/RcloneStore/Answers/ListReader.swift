import FoundationEssentials

/// Reads the answer to `operations/list` as it comes, `{"list":[{…},…]}`: it may be of any length, and only its items are kept.
// Unchecked: the client's thread alone has it until the request has ended, and who waited for that has it then.
final class ListReader: @unchecked Sendable {
    /// Bytes of one item.
    private static let longestItem = 64 << 10
    /// Bytes of items that are decoded together.
    private static let batch = 64 << 10
    /// Bytes beside the items.
    private static let longestRest = 64
    /// Items of a listing.
    static let most = 1_000_000

    /// Whether it has more items than are taken.
    private(set) var isTooLong = false
    private let limit: Int
    private(set) var items: [RemoteItem] = []
    private var depth = 0
    private var (isText, isEscaped, isBroken) = (false, false, false)
    /// What is not within an item, without white space.
    private var rest: [UInt8] = []
    private var item: [UInt8] = []
    private var pending: [UInt8] = []
    private var count = 0

    /// - Parameter limit: Items that are taken.
    init(limit: Int = ListReader.most) { self.limit = limit }

    /// Takes bytes as they come (``HTTPRequest/Sink``).
    /// - Returns: False for what is no such answer, or has no end.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes where !isBroken { step(byte) }
        return !isBroken
    }

    private func step(_ byte: UInt8) {
        let isWithin = depth > 2
        if isText {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isText = false
            }
        } else {
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case 0x20, 0x0A, 0x0D, 0x09: return
            default: break
            }
        }
        if isWithin || depth > 2 {
            item.append(byte)
            if depth == 2 { end() }
            if item.count > Self.longestItem { isBroken = true }
        } else if !(depth == 2 && byte == UInt8(ascii: ",") && !isText) {
            rest.append(byte)
        }
        if rest.count > Self.longestRest || depth < 0 { isBroken = true }
    }

    private func end() {
        count += 1
        if !pending.isEmpty { pending.append(UInt8(ascii: ",")) }
        pending += item
        item.removeAll(keepingCapacity: true)
        if pending.count >= Self.batch { decode() }
        if count > limit { (isTooLong, isBroken) = (true, true) }
    }

    private func decode() {
        guard !pending.isEmpty else { return }
        let data = Data([UInt8(ascii: "[")] + pending + [UInt8(ascii: "]")])
        pending.removeAll(keepingCapacity: true)
        // What can't be read is no answer of rclone's.
        guard let found = try? JSONDecoder().decode([RemoteItem].self, from: data) else {
            isBroken = true
            return
        }
        items += found
    }

    /// All items; nil where it is not all, or no such answer.
    func finish() -> [RemoteItem]? {
        decode()
        let words = String(decoding: rest, as: UTF8.self)
        guard !isBroken, depth == 0, !isText, words == "{\"list\":[]}" || words == "{\"list\":null}" else { return nil }
        return items
    }
}
