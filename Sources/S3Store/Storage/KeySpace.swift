import PathStore
import ReplicaModel

/// Which keys paths have: names with slashes between them below the store's own folder, and a slash behind those of folders.
struct KeySpace: Sendable {
    /// What all keys begin with: nothing, or the names of the store's folder and a slash behind them.
    let base: [UInt8]

    /// What the store has for itself, in its root; nothing else is shown or taken under this name.
    static let own = FileName(".replica")
    /// Bytes of a key, by S3.
    static let longest = 1_024

    init(prefix: [FileName]) {
        base = prefix.flatMap { $0.bytes + [UInt8(ascii: "/")] }
    }

    /// Of a file or a symlink.
    func key(_ path: StoragePath) -> [UInt8] {
        base + Array(path.names.map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
    }

    /// Of a folder, which all keys in it begin with.
    func folder(_ path: StoragePath) -> [UInt8] { path == .root ? base : key(path) + [UInt8(ascii: "/")] }

    /// A key of the store's own.
    func own(_ name: String) -> [UInt8] { base + Self.own.bytes + Array("/\(name)".utf8) }

    /// Why nothing can be at a path; nil where something can.
    func refusal(of path: StoragePath) -> String? {
        if path.names.first == Self.own { return "\(Self.own) is reserved for the store" }
        if path.names.contains(where: { String(validating: $0.bytes, as: UTF8.self) == nil }) {
            return "S3 accepts only UTF-8 names"
        }
        if path.names.contains(where: Self.hasControls) { return "S3 does not accept control characters in names" }
        // A folder's has a slash more.
        return key(path).count < Self.longest ? nil : "S3 does not accept paths longer than \(Self.longest) bytes"
    }

    /// The name of what is directly in a folder by its key; nil for what no folder can have.
    func name(_ key: [UInt8], in folder: [UInt8]) -> FileName? {
        guard key.count > folder.count, key.starts(with: folder) else { return nil }
        let name = FileName(bytes: Array(key[folder.count...]))
        guard name.isValid, !Self.hasControls(name), name != Self.own || folder != base else { return nil }
        return name
    }

    /// Whether there are characters in a name that no XML can have: servers answer with what was asked for.
    private static func hasControls(_ name: FileName) -> Bool {
        name.bytes.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\n") }
    }
}
