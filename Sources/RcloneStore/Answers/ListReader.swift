import FoundationEssentials

/// Parses the answer to `operations/list`, `{"list":[{…},…]}`, while it arrives: it may be of any length, and only its
/// items are kept. Unchecked: only the client's thread uses it until the request has ended, and only the caller
/// afterwards.
final class ListReader: @unchecked Sendable {
    /// The maximum size of an item, in bytes.
    private static let longestItem = 64 << 10
    /// The number of bytes of items that are decoded together.
    private static let batch = 64 << 10
    /// The maximum number of bytes outside the items.
    private static let longestRest = 64
    /// The maximum number of items in a listing.
    static let most = 1_000_000

    /// Whether it has too many items.
    private(set) var isTooLong = false
    private let limit: Int
    private(set) var items: [RemoteItem] = []
    private var depth = 0
    private var (isText, isEscaped, isBroken) = (false, false, false)
    /// The bytes outside the items, without white space.
    private var rest: [UInt8] = []
    private var item: [UInt8] = []
    private var pending: [UInt8] = []
    private var count = 0

    /// - Parameter limit: The maximum number of items.
    init(limit: Int = ListReader.most) { self.limit = limit }

    /// Receives bytes as they arrive (``HTTPRequest/Sink``).
    /// - Returns: False if the answer is invalid or too long.
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
        // Text that can't be decoded is not rclone's answer.
        guard let found = try? JSONDecoder().decode([RemoteItem].self, from: data) else {
            isBroken = true
            return
        }
        items += found
    }

    /// All items; nil if the answer is incomplete or invalid.
    func finish() -> [RemoteItem]? {
        decode()
        let words = String(decoding: rest, as: UTF8.self)
        guard !isBroken, depth == 0, !isText, words == "{\"list\":[]}" || words == "{\"list\":null}" else { return nil }
        return items
    }
}
