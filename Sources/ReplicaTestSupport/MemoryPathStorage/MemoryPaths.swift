import PathStore
import ReplicaModel

/// The contents of a ``MemoryPathStorage``, without locks, calls or hooks. Deterministic except for its clock.
struct MemoryPaths {
    struct Node {
        var kind: PathKind
        var content: [UInt8] = []
        var version: String?
        /// When the content was written, in nanoseconds of the storage's clock.
        var written: Int64 = 0
        var attributes = PathAttributes()
        var identity: String
    }

    /// Bytes that were destroyed by an unconditional change, and the condition that it lacked.
    struct Casualty: Hashable, Sendable {
        var path: StoragePath
        var content: [UInt8]
    }

    var properties = PathStorageProperties()
    /// The resolution of dates that are set, in nanoseconds.
    var dateGrain: Int64 = 1
    /// Whether an entry reports that no later write can produce its version.
    var tellsSettled = false
    /// Invariant: the parent folder of each path exists.
    var nodes: [StoragePath: Node] = [:]
    var casualties: [Casualty] = []
    var counter = 0

    mutating func next() -> Int {
        counter += 1
        return counter
    }

    /// The path of an entry, with the storage's case sensitivity.
    func actual(_ path: StoragePath) -> StoragePath? {
        if nodes[path] != nil || path == .root { return path }
        guard !properties.isCaseSensitive else { return nil }
        let wanted = path.description.lowercased()
        return nodes.keys.first { $0.description.lowercased() == wanted }
    }

    func node(_ path: StoragePath) -> Node? { actual(path).flatMap { nodes[$0] } }

    func isFolder(_ path: StoragePath) -> Bool { path == .root || node(path)?.kind == .folder }

    func children(of folder: StoragePath, isDeep: Bool = false) -> [StoragePath] {
        let depth = folder.names.count
        return nodes.keys.filter { path in
            path.isWithin(folder) && (isDeep ? path.names.count > depth : path.names.count == depth + 1)
        }
    }

    func entry(_ path: StoragePath, now: Int64) -> PathEntry? {
        if path == .root { return PathEntry(path: .root, kind: .folder, version: folderVersion(.root)) }
        guard let actual = actual(path), let node = nodes[actual] else { return nil }
        let version = node.kind == .folder ? folderVersion(actual) : node.version
        return PathEntry(
            path: actual, kind: node.kind, version: version, size: Int64(node.content.count),
            attributes: node.attributes, identity: properties.hasIdentities ? node.identity : nil,
            isSettled: tellsSettled && now / grain > node.written / grain)
    }

    /// Changes whenever anything below changes.
    private func folderVersion(_ folder: StoragePath) -> String? {
        guard properties.foldersTellChanges else { return nil }
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for path in children(of: folder, isDeep: true).sorted(by: { $0.description < $1.description }) {
            guard let node = nodes[path] else { continue }
            let place = path.names.dropFirst(folder.names.count)
            let words = "\(place) \(node.kind) \(node.version ?? "") \(node.identity) \(node.attributes)"
            for byte in words.utf8 { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        return "f\(sum)"
    }

    private var grain: Int64 { max(1, properties.changeGrain) }

    /// Writes a file, replacing any other.
    mutating func put(_ content: [UInt8], at path: StoragePath, _ attributes: PathAttributes, now: Int64) {
        let path = actual(path) ?? path
        var node = nodes[path] ?? Node(kind: .file, identity: "n\(next())")
        node.content = content
        node.written = now
        node.version = properties.changeGrain == 0 ? "v\(next())" : "t\(now / grain)-\(content.count)"
        take(attributes, into: &node)
        nodes[path] = node
    }

    mutating func make(_ kind: PathKind, at path: StoragePath, _ attributes: PathAttributes) {
        var node = Node(kind: kind, identity: "n\(next())")
        take(attributes, into: &node)
        nodes[path] = node
    }

    /// Keeps the attributes that the storage supports.
    func take(_ attributes: PathAttributes, into node: inout Node) {
        if properties.keepsModes, let mode = attributes.mode { node.attributes.mode = mode }
        if properties.keepsModificationDates, let date = attributes.modificationDate {
            node.attributes.modificationDate = Timestamp(nanoseconds: date.nanoseconds / dateGrain * dateGrain)
        }
        if properties.keepsMarks, let mark = attributes.mark { node.attributes.mark = mark }
    }

    /// Moves an entry with everything in it; an existing target is replaced.
    mutating func move(_ path: StoragePath, to target: StoragePath) {
        guard let path = actual(path) else { return }
        let moved = [path] + children(of: path, isDeep: true)
        let taken = moved.compactMap { old in nodes.removeValue(forKey: old).map { (old, $0) } }
        if let occupied = actual(target) { remove(occupied) }
        for (old, node) in taken { nodes[old.moved(from: path, to: target)] = node }
    }

    mutating func remove(_ path: StoragePath) {
        for below in children(of: path, isDeep: true) { nodes[below] = nil }
        nodes[path] = nil
    }
}
