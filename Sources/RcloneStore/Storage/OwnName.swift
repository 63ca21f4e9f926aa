import PathStore
import ReplicaModel

/// Names of what the store has under way on a remote. They tell when it began: the times of these files are those of their contents.
enum OwnName {
    /// What such names begin with, and what those end with that rclone has not written whole; four digits follow, the day.
    static let (prefix, suffix) = (".replica-tmp-", ".replica-tmp")
    private static let day: Int64 = 86_400
    private static let digits = 4

    /// A name that nothing has.
    /// - Parameter now: Seconds since 1970.
    static func made(_ now: Int64) -> FileName {
        FileName("\(prefix)\(now)-\(String(UInt64.random(in: 0 ... .max), radix: 16))")
    }

    /// What rclone adds to the names of what it writes; it takes 16 bytes at most.
    static func suffix(_ now: Int64) -> String {
        let text = String((now / day) & 0xFFFF, radix: 16)
        return suffix + String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// Whether a name is one of these.
    static func isOne(_ name: FileName) -> Bool {
        name.bytes.starts(with: prefix.utf8) || name.bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            || dayDigits(name) != nil
    }

    /// When it began, or later, in seconds since 1970; nil where the name does not tell.
    static func start(_ name: FileName) -> Int64? {
        if name.bytes.starts(with: prefix.utf8) {
            let rest = name.bytes.dropFirst(prefix.utf8.count)
            let text = String(decoding: rest.prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self)
            guard (9...12).contains(text.utf8.count), text.utf8.count < rest.count else { return nil }
            return Int64(text)
        }
        // At the end of that day.
        return dayDigits(name).flatMap { Int64($0, radix: 16) }.map { ($0 + 1) * day }
    }

    private static func dayDigits(_ name: FileName) -> String? {
        guard name.bytes.dropLast(digits).suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else { return nil }
        let text = String(decoding: name.bytes.suffix(digits), as: UTF8.self)
        return text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } ? text : nil
    }
}
