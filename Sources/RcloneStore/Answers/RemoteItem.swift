import FoundationEssentials
import HTTPClient
import PathStore
import ReplicaModel

/// A file or a folder as rclone reports it.
struct RemoteItem: Decodable, Hashable, Sendable {
    /// Relative to the remote's root.
    var path: String
    /// -1 if the remote does not report it, as for documents that are generated when they are read.
    var size: Int64
    var modified: String?
    var isFolder: Bool
    var hashes: [String: String]?

    private enum CodingKeys: String, CodingKey {
        case path = "Path"
        case size = "Size"
        case modified = "ModTime"
        case isFolder = "IsDir"
        case hashes = "Hashes"
    }

    /// When its content was last written; nil if that is not reported.
    var time: Timestamp? { modified.flatMap(RemoteTime.read) }

    /// Its path.
    /// - Returns: Nil for a path that is not valid here.
    var place: StoragePath? {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map { FileName(String($0)) }
        guard names.count < 500, names.allSatisfy(\.isValid) else { return nil }
        return StoragePath(names)
    }

    /// The version of its content.
    /// - Parameter hash: The remote's kind of hash; nil for none.
    /// - Returns: Nil if it has no valid version.
    func version(_ hash: String?) -> String? {
        guard !isFolder, size >= 0 else { return nil }
        if let hash, let value = hashes?[hash], (1...200).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        {
            return "\(hash)-\(value)"
        }
        // Not the text itself, which is in the time zone of the reader.
        if let time { return "\(size)-\(time.seconds).\(time.subsecond)" }
        guard let modified, modified.utf8.count <= 40, modified.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            return nil
        }
        return "\(size)-\(modified)"
    }
}

/// Times in rclone's form (RFC 3339), with nanoseconds.
enum RemoteTime {
    /// - Returns: Nil if it is not a time.
    static func read(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 40, let whole = ServerTime.listing(String(text.prefix(19))) else { return nil }
        var rest = text.dropFirst(19)
        var nanoseconds: Int64 = 0
        if rest.hasPrefix(".") {
            let digits = rest.dropFirst().prefix { ("0"..."9").contains($0) }
            guard let value = HTTPHead.size(String(digits.prefix(9))) else { return nil }
            nanoseconds = (digits.prefix(9).utf8.count..<9).reduce(value) { value, _ in value * 10 }
            rest = rest.dropFirst(1 + digits.count)
        }
        if rest == "Z" { return Timestamp(seconds: whole, nanoseconds: nanoseconds) }
        // +HH:MM
        let parts = rest.dropFirst().split(separator: ":").map { HTTPHead.size(String($0)) ?? 100 }
        guard rest.hasPrefix("+") || rest.hasPrefix("-"), parts.count == 2, parts[0] < 24, parts[1] < 60 else {
            return nil
        }
        let offset = (parts[0] * 60 + parts[1]) * 60
        return Timestamp(seconds: whole + (rest.hasPrefix("+") ? -offset : offset), nanoseconds: nanoseconds)
    }

    /// The form for `rclone touch`, in UTC.
    static func text(_ date: Timestamp) -> String {
        // 20130524T000000Z
        let stamp = Array(ServerTime.stamp(date.seconds))
        guard stamp.count == 16 else { return "" }
        let (day, time) = (stamp[..<8], stamp[9..<15])
        func part(_ characters: ArraySlice<Character>, _ range: Range<Int>) -> String {
            String(characters.dropFirst(range.lowerBound).prefix(range.count))
        }
        let rest = String(date.subsecond)
        return "\(part(day, 0..<4))-\(part(day, 4..<6))-\(part(day, 6..<8))T\(part(time, 0..<2)):\(part(time, 2..<4)):"
            + "\(part(time, 4..<6))." + String(repeating: "0", count: 9 - rest.utf8.count) + rest
    }
}
