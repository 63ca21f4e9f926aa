import ChildProcess
import Glibc
import ReplicaControl

/// Numbers and times for users.
enum Format {
    /// `0 B`, `12.3 MiB`.
    static func bytes(_ count: Int64) -> String {
        var value = Double(count)
        var units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][...]
        while value >= 1024, units.count > 1 {
            value /= 1024
            units.removeFirst()
        }
        let unit = units.first ?? "B"
        return unit == "B" ? "\(count) B" : decimal(value, digits: 1) + " " + unit
    }

    /// `42 s`, `3 min`, `5 h`.
    static func seconds(_ seconds: Double) -> String {
        switch seconds {
        case ..<90: "\(whole(seconds.rounded(.up))) s"
        case ..<5400: "\(whole((seconds / 60).rounded())) min"
        default: "\(whole((seconds / 3600).rounded())) h"
        }
    }

    /// `1 item`, `2 items`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `12 of 300 items, 1.0 MiB of 2.0 GiB, 4 items/s, 3.0 MiB/s, 11 min left`; `1200 items found` while they are counted.
    static func progress(_ progress: TransferProgress) -> String {
        progressParts(progress).joined(separator: ", ")
    }

    /// The most important part is first. `0 of 1 item, disconnected: on a train` if it does not continue.
    static func progressParts(_ progress: TransferProgress) -> [String] {
        let hasBytes = progress.bytesTotal > 0
        if progress.counting == true {
            return ["\(count(progress.itemsTotal, "item")) found"] + (hasBytes ? [bytes(progress.bytesTotal)] : [])
        }
        var parts = ["\(progress.itemsDone) of \(count(progress.itemsTotal, "item"))"]
        if let reason = progress.reason { return parts + [harmless(reason)] }
        if hasBytes { parts.append("\(bytes(progress.bytesDone)) of \(bytes(progress.bytesTotal))") }
        if let items = rate(progress.itemsPerSecond) { parts.append("\(items) items/s") }
        let speed = whole(progress.bytesPerSecond)
        if hasBytes, speed > 0, progress.bytesDone < progress.bytesTotal { parts.append("\(bytes(speed))/s") }
        if let left = progress.secondsLeft { parts.append("\(seconds(left)) left") }
        return parts
    }

    /// `12`, `0.4`; nil if negligible.
    private static func rate(_ perSecond: Double) -> String? {
        guard perSecond >= 0.05 else { return nil }
        let text = decimal(perSecond, digits: perSecond < 9.95 ? 1 : 0)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// With this many decimal digits, rounded like printf(3).
    private static func decimal(_ value: Double, digits: Int) -> String {
        var text = [CChar](repeating: 0, count: 400)
        let length = withVaList([Int32(digits), value]) { vsnprintf(&text, text.count, "%.*f", $0) }
        return String(decoding: text.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Without a fraction, clamped to the range of the type.
    private static func whole(_ value: Double) -> Int64 {
        Int64(exactly: value.rounded(.down)) ?? (value > 0 ? .max : 0)
    }

    /// A path with control and format characters shown as `?`, because terminals interpret them.
    static func path(_ bytes: [UInt8]) -> String {
        harmless(String(decoding: bytes, as: UTF8.self))
    }

    /// A line in which only tabs are left of the control characters: they separate the columns of a list.
    static func line(_ text: String) -> String { harmless(text, except: "\t") }

    private static func harmless(_ text: String, except kept: Unicode.Scalar? = nil) -> String {
        let scalars = text.unicodeScalars.map { SanitizedText.isHarmless($0) || $0 == kept ? $0 : "?" }
        return String(String.UnicodeScalarView(scalars))
    }

    /// An item's path.
    static func path(_ path: ControlPath) -> String {
        path.bytes.isEmpty ? "." : self.path(path.bytes)
    }
}
