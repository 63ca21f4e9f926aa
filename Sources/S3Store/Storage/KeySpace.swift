import ChildProcess
import PathStore
import ReplicaModel

/// The keys of paths: the names separated by slashes, below the store's folder; the keys of folders end with a slash.
struct KeySpace: Sendable {
    /// The prefix of all keys: empty, or the names of the store's folder and a slash.
    let base: [UInt8]

    /// The name of the store's internal folder in its root; it is hidden, and reserved.
    static let own = FileName(".replica")
    /// The maximum length of a key in S3, in bytes.
    static let longest = 1_024

    init(prefix: [FileName]) {
        base = prefix.flatMap { $0.bytes + [UInt8(ascii: "/")] }
    }

    /// The key of a file or a symlink.
    func key(_ path: StoragePath) -> [UInt8] {
        base + Array(path.names.map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
    }

    /// The key of a folder, the prefix of all keys in it.
    func folder(_ path: StoragePath) -> [UInt8] { path == .root ? base : key(path) + [UInt8(ascii: "/")] }

    /// An internal key of the store.
    func own(_ name: String) -> [UInt8] { base + Self.own.bytes + Array("/\(name)".utf8) }

    /// Why a path is not possible; nil if it is.
    func refusal(of path: StoragePath) -> String? {
        if path.names.first == Self.own { return "\(Self.own) is reserved for the store" }
        if path.names.contains(where: { String(validating: $0.bytes, as: UTF8.self) == nil }) {
            return "S3 accepts only UTF-8 names"
        }
        if path.names.contains(where: Self.hasControls) { return "S3 does not accept control characters in names" }
        // A folder's key is longer by a slash.
        return key(path).count < Self.longest ? nil : "S3 does not accept paths longer than \(Self.longest) bytes"
    }

    /// The name of a direct entry of a folder, from its key; nil if the name is invalid.
    func name(_ key: [UInt8], in folder: [UInt8]) -> FileName? {
        guard key.count > folder.count, key.starts(with: folder) else { return nil }
        let name = FileName(bytes: Array(key[folder.count...]))
        guard name.isValid, !Self.hasControls(name), name != Self.own || folder != base else { return nil }
        return name
    }

    /// What a key is called below a folder, for users.
    static func words(_ key: [UInt8], in folder: [UInt8]) -> String {
        SanitizedText.of(String(decoding: key.dropFirst(folder.count), as: UTF8.self), longest: 255)
    }

    /// Whether a name has characters that XML can't represent, which servers would have to repeat in their answers.
    private static func hasControls(_ name: FileName) -> Bool {
        name.bytes.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\n") }
    }
}
