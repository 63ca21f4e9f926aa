import PathStore
import PercentEncoding
import ReplicaModel

/// What the replicas of a bucket tell each other: the folders in which they have made changes lately, the newest last. The text of
/// one object (``HintObject``).
///
/// It proves nothing: whoever reads one lists the folders.
struct HintText: Hashable, Sendable {
    struct Change: Hashable, Sendable {
        /// Identifies the process that made the change: lower-case hexadecimal digits.
        var run: String
        /// 1 for the first change of a run; each is one greater than the one before.
        var number: UInt64
        var folder: StoragePath
    }

    var changes: [Change] = []

    /// The maximum number of changes.
    static let most = 100
    /// The maximum length of a text, in bytes.
    static let longest = 64 << 10
    private static let longestRun = 32
    /// The first line, for people and for later formats.
    static let title =
        "replica changes 1: folders that replicas have changed in the last minutes; it is removed automatically"

    init() {}

    /// Adds a change in each of these folders, and drops the oldest ones if there are too many.
    /// - Parameter number: The number of the first.
    mutating func add(_ folders: some Sequence<StoragePath>, run: String, from number: UInt64) {
        for (index, folder) in folders.enumerated() {
            changes.append(Change(run: run, number: number + UInt64(index), folder: folder))
        }
        if changes.count > Self.most { changes.removeFirst(changes.count - Self.most) }
    }

    /// The oldest changes are left out if it would be too long.
    var bytes: [UInt8] {
        var left = Self.longest - Self.title.utf8.count
        var lines: [String] = []
        for change in changes.reversed() {
            let names = change.folder.names.map(\.bytes).joined(separator: [UInt8(ascii: "/")])
            let line = "\(change.run) \(change.number) /\(PercentText.encoded(names, keeping: "/"))"
            left -= line.utf8.count + 1
            guard left >= 0 else { break }
            lines.append(line)
        }
        return Array(([Self.title] + lines.reversed()).joined(separator: "\n").utf8)
    }

    /// - Returns: Nil if it is not such a text: anybody who may write in the bucket can put anything there.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.longest, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count <= Self.most + 1, let first = lines.first, first.elementsEqual(Self.title.utf8) else {
            return nil
        }
        for line in lines.dropFirst() {
            guard let change = Self.change(Substring(line)) else { return nil }
            changes.append(change)
        }
    }

    private static func change(_ line: Substring) -> Change? {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, isRun(words[0]), let number = UInt64(words[1]), number > 0,
            let folder = folder(words[2])
        else { return nil }
        return Change(run: String(words[0]), number: number, folder: folder)
    }

    private static func isRun(_ text: Substring) -> Bool {
        (1...longestRun).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    private static func folder(_ text: Substring) -> StoragePath? {
        guard text.first == "/" else { return nil }
        if text == "/" { return .root }
        var names: [FileName] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let bytes = PercentText.decoded(String(part)) else { return nil }
            let name = FileName(bytes: bytes)
            guard name.isValid else { return nil }
            names.append(name)
        }
        return StoragePath(names)
    }
}
