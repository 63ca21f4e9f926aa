import Glibc
import ReplicaTestSupport
import SystemPackage

@testable import ReplicaModel

/// A name in a machine's tree.
struct Seen: Sendable {
    var parent: ItemNumber
    var name: FileName
    var number: ItemNumber
    var kind: ItemKind?
    var path: String
}

extension Machine {
    /// What is listed here, by path.
    func seen() throws -> [Seen] {
        let replica = try run().replica
        var found: [Seen] = []
        func walk(_ folder: ItemNumber, _ path: String) {
            // What is not listed yet holds nothing to see.
            guard let entries = try? replica.entries(of: folder) else { return }
            for entry in entries.sorted(by: { $0.name < $1.name }) {
                let here = path + entry.name.description
                found.append(
                    Seen(parent: folder, name: entry.name, number: entry.number, kind: entry.type, path: here))
                if entry.type == .folder { walk(entry.number, here + "/") }
            }
        }
        walk(.root, "")
        return found
    }

    /// Brings every listing that is missing.
    func listAll() async throws {
        let engine = try run().engine
        var listed: Set<ItemNumber> = []
        try await list(.root, engine)
        while let next = try seen().first(where: { $0.kind == .folder && !listed.contains($0.number) }) {
            listed.insert(next.number)
            try await list(next.number, engine)
        }
    }

    private func list(_ folder: ItemNumber, _ engine: SyncEngine) async throws {
        do { try await engine.list(folder) } catch {
            throw BrokenPromise("machine \(number): a folder cannot be listed: \(error)")
        }
    }

    /// A file's content, fetched when it is not here; nil when it can't be had now.
    func content(of file: Seen) async throws -> String? {
        let run = try run()
        do {
            try await run.engine.hydrate(file.number, range: nil)
            let open = try run.replica.open(file.number, flags: O_RDONLY)
            defer {
                close(open.descriptor)
                run.replica.closed(file.number, isWriter: false)
            }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = pread(open.descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        } catch {
            return nil
        }
    }

    /// The whole tree: each file's content by its path, and the paths of folders with a slash.
    func tree() async throws -> [String: String] {
        try await listAll()
        var tree: [String: String] = [:]
        for entry in try seen() {
            if entry.kind == .folder {
                tree[entry.path + "/"] = ""
            } else {
                guard let content = try await content(of: entry) else {
                    throw BrokenPromise("machine \(number): \(entry.path) cannot be read")
                }
                tree[entry.path] = content
            }
        }
        return tree
    }
}
