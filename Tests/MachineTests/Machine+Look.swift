import Glibc
import ReplicaTestSupport
import SystemPackage

@testable import ReplicaModel

extension Machine {
    /// What is listed here, by path.
    func seen() throws -> [Seen] { try run().replica.seen() }

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
