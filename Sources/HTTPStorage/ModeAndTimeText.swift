internal import HTTPClient
package import ReplicaModel

/// Modes and times in the form of s3fs and rclone.
package enum ModeAndTimeText {
    /// Octal with a leading zero, which both read: s3fs because of the zero, rclone always.
    package static func text(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }

    /// Octal, or decimal if only that is a valid mode (s3fs).
    package static func parsed(_ text: String, isFolder: Bool) -> UInt32? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let (octal, decimal) = (UInt32(text, radix: 8), UInt32(text))
        if text.hasPrefix("0") { return octal }
        func isMode(_ mode: UInt32?) -> Bool {
            guard let mode else { return false }
            let type = mode & ~0o7777
            return isFolder ? type == 0o040000 : type == 0o100000 || type == 0o120000
        }
        if isMode(octal) { return octal }
        if isMode(decimal) { return decimal }
        return octal.flatMap { $0 <= 0o7777 ? $0 : nil }
    }

    /// Seconds since 1970 with a fraction.
    package static func text(_ date: Timestamp) -> String {
        if date.subsecond == 0 { return String(date.seconds) }
        // Before 1970 the whole value is negative, while the seconds are rounded down.
        let isBefore = date.seconds < 0
        let seconds = isBefore ? -(date.seconds + 1) : date.seconds
        let rest = String(isBefore ? 1_000_000_000 - date.subsecond : date.subsecond)
        return (isBefore ? "-" : "") + "\(seconds)." + String(repeating: "0", count: 9 - rest.utf8.count) + rest
    }

    /// Parses the form of ``text(_:)-(Timestamp)``, or of another tool.
    /// - Returns: Nil if it is not a time.
    package static func time(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 40 else { return nil }
        let isBefore = text.hasPrefix("-")
        let parts = text.dropFirst(isBefore || text.hasPrefix("+") ? 1 : 0).split(
            separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let seconds = HTTPHead.size(String(parts[0])) else { return nil }
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            let digits = parts[1].prefix(9)
            guard let rest = HTTPHead.size(String(digits)) else { return nil }
            nanoseconds = (digits.utf8.count..<9).reduce(rest) { value, _ in value * 10 }
        }
        guard isBefore else { return Timestamp(seconds: seconds, nanoseconds: nanoseconds) }
        return nanoseconds == 0
            ? Timestamp(seconds: -seconds, nanoseconds: 0)
            : Timestamp(seconds: -seconds - 1, nanoseconds: 1_000_000_000 - nanoseconds)
    }
}
