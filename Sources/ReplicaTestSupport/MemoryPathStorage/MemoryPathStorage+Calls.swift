package import PathStore
package import ReplicaModel
import Threads

extension MemoryPathStorage {
    package func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        try await serve(PathStorageCall(.entry, path)) { () async throws(PathStorageError) in present(path) }
    }

    package func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        try await serve(PathStorageCall(.list, folder)) { () async throws(PathStorageError) in
            let (size, now) = (pageSize, now())
            return try paths.withLock { (paths) throws(PathStorageError) in
                if isDeep, !paths.properties.listsDeep { throw .unsupported("deep listings") }
                guard paths.isFolder(folder) else { throw .notFound }
                // The names, separated by a byte that no name contains.
                let sorted = paths.children(of: folder, isDeep: isDeep).map { (Self.token(of: $0), $0) }.filter {
                    child in
                    page.map { $0.bytes.lexicographicallyPrecedes(child.0) } ?? true
                }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
                var entries = sorted.prefix(size).compactMap { paths.entry($0.1, now: now) }
                if !paths.properties.listsAttributes {
                    for index in entries.indices { entries[index].attributes = PathAttributes() }
                }
                return PathPage(
                    entries: entries,
                    next: sorted.count > size ? EnumerationPage(bytes: sorted[size - 1].0) : nil)
            }
        }
    }

    private static func token(of path: StoragePath) -> [UInt8] { Array(path.names.map(\.bytes).joined(separator: [0])) }

    package func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        try await serve(PathStorageCall(.read, path)) { () async throws(PathStorageError) in
            guard let entry = present(path), let content = content(at: path) else { throw .notFound }
            if let version, version != entry.version { throw .changed(entry) }
            let whole = 0..<Int64(content.count)
            let wanted = properties.fetchesRanges ? (range ?? whole).clamped(to: whole) : whole
            do throws(RemoteStoreError) {
                try content[Int(wanted.lowerBound)..<Int(wanted.upperBound)].withUnsafeBufferPointer {
                    (bytes) throws(RemoteStoreError) in
                    try sink.write(UnsafeRawBufferPointer(bytes), at: wanted.lowerBound)
                }
            } catch {
                throw error == .cancelled ? .cancelled : .unavailable(error.message)
            }
            return entry
        }
    }

    package func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard condition: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        let bytes: [UInt8]
        do throws(RemoteStoreError) { bytes = try contents.allBytes() } catch { throw .refused(error.message) }
        let call = PathStorageCall(.write, path)
        let properties = properties
        let strength = condition == .absent ? properties.createStrength : properties.replaceStrength
        return try await serve(call) { () async throws(PathStorageError) in
            try guarded(call, strength) { (paths, now) throws(PathStorageError) in
                try paths.check(condition, at: path, now)
            } act: { (paths, now) throws(PathStorageError) in
                guard let parent = path.parent, paths.isFolder(parent) else { throw .notFound }
                if let other = paths.node(path), other.kind != .file { throw .taken(paths.entry(path, now: now)) }
                paths.noteCasualty(path, unless: condition.version)
                paths.put(bytes, at: path, attributes, now: now)
                return try paths.answer(path, now)
            }
        }
    }

    package func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        let call = PathStorageCall(.make, path)
        if case .symlink = kind, !properties.keepsSymlinks { throw .unsupported("symlinks") }
        return try await serve(call) { () async throws(PathStorageError) in
            try guarded(call, .atomic) { (paths, now) throws(PathStorageError) in
                try paths.check(.absent, at: path, now)
            } act: { (paths, now) throws(PathStorageError) in
                guard let parent = path.parent, paths.isFolder(parent) else { throw .notFound }
                paths.make(kind, at: path, attributes)
                return try paths.answer(path, now)
            }
        }
    }

    package func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        try await serve(PathStorageCall(.set, path)) { () async throws(PathStorageError) in
            let now = now()
            return try paths.withLock { (paths) throws(PathStorageError) in
                guard let actual = paths.actual(path), var node = paths.nodes[actual] else { throw .notFound }
                paths.take(attributes, into: &node)
                paths.nodes[actual] = node
                return try paths.answer(path, now)
            }
        }
    }

    package func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        let call = PathStorageCall(.move, path, target: target)
        return try await serve(call) { () async throws(PathStorageError) in
            try guarded(call, properties.moveStrength) { (paths, now) throws(PathStorageError) in
                guard let node = paths.node(path) else { throw .notFound }
                if let version, node.version != version { throw .changed(paths.entry(path, now: now)) }
                if let other = paths.actual(target), other != paths.actual(path) {
                    throw .taken(paths.entry(other, now: now))
                }
            } act: { (paths, now) throws(PathStorageError) in
                guard paths.node(path) != nil, let parent = target.parent, paths.isFolder(parent) else {
                    throw .notFound
                }
                if target.isWithin(path), target != path { throw .refused("a folder does not move into itself") }
                if let other = paths.actual(target), other != paths.actual(path) {
                    // rename(2) replaces files only by files.
                    guard paths.nodes[other]?.kind == .file, paths.node(path)?.kind == .file else {
                        throw .taken(paths.entry(other, now: now))
                    }
                    paths.noteCasualty(other, unless: nil)
                }
                paths.move(path, to: target)
                return try paths.answer(target, now)
            }
        }
    }

    package func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        let call = PathStorageCall(.remove, path)
        try await serve(call) { () async throws(PathStorageError) in
            try guarded(call, properties.removeStrength) { (paths, now) throws(PathStorageError) in
                guard let version, let node = paths.node(path), node.version != version else { return }
                throw .changed(paths.entry(path, now: now))
            } act: { (paths, _) throws(PathStorageError) in
                guard let actual = paths.actual(path) else { return }
                guard paths.children(of: actual).isEmpty else { throw .notEmpty }
                paths.noteCasualty(actual, unless: version)
                paths.remove(actual)
            }
        }
    }

    package func makeDurable() async throws(PathStorageError) {
        try await serve(PathStorageCall(.makeDurable, .root)) { () async throws(PathStorageError) in }
    }
}

extension WriteGuard {
    fileprivate var version: String? {
        if case .version(let version) = self { version } else { nil }
    }
}

extension MemoryPaths {
    fileprivate func check(
        _ condition: WriteGuard, at path: StoragePath, _ now: Int64
    ) throws(PathStorageError) {
        guard let parent = path.parent, isFolder(parent) else { throw .notFound }
        switch condition {
        case .absent: if node(path) != nil { throw .taken(entry(path, now: now)) }
        case .version(let version):
            guard let node = node(path) else { throw .notFound }
            guard node.kind == .file, node.version == version else { throw .changed(entry(path, now: now)) }
        }
    }

    fileprivate func answer(_ path: StoragePath, _ now: Int64) throws(PathStorageError) -> PathEntry {
        guard let entry = entry(path, now: now) else { throw .unreachable("nothing is there") }
        return entry
    }

    /// Records the content that is destroyed, unless it is the expected version.
    fileprivate mutating func noteCasualty(_ path: StoragePath, unless version: String?) {
        guard let node = node(path), node.kind == .file, node.version != version else { return }
        casualties.append(Casualty(path: path, content: node.content))
    }
}
