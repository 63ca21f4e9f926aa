import PathStore
import ReplicaModel

/// Names of the store's temporary files on a remote. They contain the day of creation, because the times of these files
/// are those of their contents.
enum TemporaryName {
    /// The prefix of such names, and the suffix of files that rclone has not written completely; the suffix is followed
    /// by four digits, the day.
    static let (prefix, suffix) = (".replica-tmp-", ".replica-tmp")
    private static let day: Int64 = 86_400
    private static let digits = 4

    /// A unique name.
    /// - Parameter now: Seconds since 1970.
    static func made(_ now: Int64) -> FileName {
        FileName("\(prefix)\(now)-\(String(UInt64.random(in: 0 ... .max), radix: 16))")
    }

    /// The suffix that rclone appends to names during a write; at most 16 bytes.
    static func suffix(_ now: Int64) -> String {
        let text = String((now / day) & 0xFFFF, radix: 16)
        return suffix + String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// Whether a name is one of these.
    static func isOne(_ name: FileName) -> Bool {
        name.bytes.starts(with: prefix.utf8) || name.bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            || dayDigits(name) != nil
    }

    /// An upper bound of its creation time, in seconds since 1970; nil if the name does not contain it.
    static func start(_ name: FileName) -> Int64? {
        if name.bytes.starts(with: prefix.utf8) {
            let rest = name.bytes.dropFirst(prefix.utf8.count)
            let text = String(decoding: rest.prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self)
            guard (9...12).contains(text.utf8.count), text.utf8.count < rest.count else { return nil }
            return Int64(text)
        }
        // The end of that day.
        return dayDigits(name).flatMap { Int64($0, radix: 16) }.map { ($0 + 1) * day }
    }

    private static func dayDigits(_ name: FileName) -> String? {
        guard name.bytes.dropLast(digits).suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else { return nil }
        let text = String(decoding: name.bytes.suffix(digits), as: UTF8.self)
        return text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } ? text : nil
    }
}
