import PathStore
import PercentEncoding
import ReplicaModel

/// What a replica tells the others of a bucket: the folders in which it has made changes, the newest last. The text of one
/// object, `.replica/hint/REPLICA`.
///
/// A hint proves nothing: whoever reads one looks into the folders.
struct HintText: Hashable, Sendable {
    struct Change: Hashable, Sendable {
        /// 1 for the first change of a run; each is one greater than the one before.
        var number: UInt64
        var folder: StoragePath
    }

    /// Identifies the process that counts the changes.
    var run: String
    var changes: [Change] = []

    /// How many changes are kept.
    static let most = 100
    /// The maximum length of a text, in bytes. An older change is left out where they are longer.
    static let longest = 64 << 10
    private static let title = "replica hint 1"

    init(run: String) { self.run = run }

    /// Adds changes in these folders, each with a number of its own.
    mutating func add(_ folders: some Sequence<StoragePath>) {
        for folder in folders { changes.append(Change(number: (changes.last?.number ?? 0) + 1, folder: folder)) }
        if changes.count > Self.most { changes.removeFirst(changes.count - Self.most) }
    }

    var bytes: [UInt8] {
        var left = Self.longest - Self.title.utf8.count - run.utf8.count - 2
        var lines: [String] = []
        for change in changes.reversed() {
            let names = change.folder.names.map(\.bytes).joined(separator: [UInt8(ascii: "/")])
            let line = "\(change.number) \(PercentText.encoded(names, keeping: "/"))"
            left -= line.utf8.count + 1
            guard left >= 0 else { break }
            lines.append(line)
        }
        return Array(([Self.title + " " + run] + lines.reversed()).joined(separator: "\n").utf8)
    }

    /// - Returns: Nil if it is not such a text: anybody who may write in the bucket can put anything there.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.longest, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count <= Self.most + 1, let first = lines.first, first.hasPrefix(Self.title + " ") else {
            return nil
        }
        run = String(first.dropFirst(Self.title.count + 1))
        for line in lines.dropFirst() {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let number = UInt64(words[0]), let folder = Self.folder(words[1]),
                changes.last.map({ $0.number < .max && number == $0.number + 1 }) ?? (number > 0)
            else { return nil }
            changes.append(Change(number: number, folder: folder))
        }
    }

    private static func folder(_ text: Substring) -> StoragePath? {
        guard !text.isEmpty else { return .root }
        var names: [FileName] = []
        for part in text.split(separator: "/", omittingEmptySubsequences: false) {
            guard let bytes = PercentText.decoded(String(part)) else { return nil }
            let name = FileName(bytes: bytes)
            guard name.isValid else { return nil }
            names.append(name)
        }
        return StoragePath(names)
    }
}
