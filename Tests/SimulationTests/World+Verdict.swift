import Glibc
import PathStore
import SystemPackage
import Threads

@testable import ReplicaModel
@testable import ReplicaTestSupport

extension World {
    /// Lets everything become idle, and then checks the final state.
    func judge(_ profile: Profile) async throws {
        say("  ---- rest")
        script.withLock { $0 = Script() }
        store.setBatchSize(1000)
        releaseAll(isAlive: true)
        let meant = try Disk.entries(folders.tree)
        try await settle()
        if profile == .alone { try checkKept(meant) }
        try await fetchAll()
        try await settle()
        if profile == .guarded { try await closeWindow() }
        try check(profile)
    }

    /// Whether a file of this content is in the tree; nothing is everywhere.
    func isHere(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty, let entries = try? Disk.entries(folders.tree) else { return bytes.isEmpty }
        return entries.values.contains { $0.bytes == bytes }
    }

    private func settle() async throws {
        let daemon = self.daemon!
        for round in 0..<30 {
            script.withLock { $0.calls = 0 }
            pass(400)
            try decide(round)
            if round % 3 == 0 { daemon.engine.retryAll() }
            try await unmoved {
                try await self.live { daemon in
                    daemon.engine.askNow()
                    await daemon.engine.receive()
                    _ = await daemon.engine.send()
                }
            }
            settleCasualties()
            for violation in rules.violations { throw Violation(description: violation) }
            try daemon.replica.record()
            if daemon.engine.isQuiet() { return }
        }
        throw Violation(description: "there is no rest: \(unrest(daemon))")
    }

    private func unrest(_ daemon: DaemonRun) -> String {
        let pending = daemon.replica.withTree { tree in
            tree.pending.values.sorted { $0.number < $1.number }.map { node in
                "\(tree.path(of: node).map(\.description).joined(separator: "/")) \(node.number)"
                    + " \(node.base.map { "\($0.identifier)" } ?? "new") [\(Describe.fields(node.dirty))]"
                    + " flags \(node.flags.rawValue) \(node.failure.map { $0.code } ?? "")"
            }
        }
        let incoming = ((try? daemon.replica.incoming(after: 0, limit: 100)) ?? []).map { "\($0.1.identifier)" }
        let storeFailure = daemon.engine.state.withLock { $0.storeFailure?.code ?? "no trouble" }
        return "pending \(pending), incoming \(incoming), \(storeFailure)"
    }

    /// Alone, nothing but the user changes the tree.
    private func checkKept(_ meant: [String: Disk.Entry]) throws {
        let now = try Disk.entries(folders.tree)
        for path in Set(meant.keys).union(now.keys).sorted() where meant[path] != now[path] {
            // A cut is sent with the bytes that are left, which come for it.
            if meant[path]?.isDataless == true, now[path]?.kind == .file { continue }
            throw Violation(
                description: "\(path) was \(meant[path]?.text ?? "-") and is \(now[path]?.text ?? "-")")
        }
    }

    /// Brings every listing and every content, so that all can be compared.
    private func fetchAll() async throws {
        let daemon = self.daemon!
        var listed: Set<ItemNumber> = []
        while let next = seen(daemon).first(where: { $0.kind == .folder && !listed.contains($0.number) }) {
            listed.insert(next.number)
            do { try await daemon.engine.list(next.number) } catch {
                throw Violation(description: "\(next.path) cannot be listed: \(error)")
            }
        }
        for file in seen(daemon) where file.kind == .file {
            do { try await daemon.engine.hydrate(file.number, range: nil) } catch {
                throw Violation(description: "\(file.path) cannot be fetched: \(error)")
            }
        }
    }

    private func check(_ profile: Profile) throws {
        for violation in rules.violations { throw Violation(description: violation) }
        let here = try Disk.entries(folders.tree)
        let there = store.entries
        let excluded = localOnly()
        for path in Set(here.keys).union(there.keys).sorted() where !excluded.contains(path) {
            try compare(path, here[path], there[path])
        }
        try checkOwed(here)
    }

    /// The paths of what the store would not have.
    private func localOnly() -> Set<String> {
        let daemon = self.daemon!
        let all = seen(daemon)
        return daemon.replica.withTree { tree in
            let alone = all.filter { entry in
                tree.items[entry.parent]?.children?[entry.name].map {
                    !$0.flags.isDisjoint(with: [.excluded, .special, .refused])
                } ?? false
            }.map(\.path)
            let below = all.map(\.path).filter { path in alone.contains { path.hasPrefix($0 + "/") } }
            return Set(alone + below)
        }
    }

    private func compare(_ path: String, _ here: Disk.Entry?, _ there: MemoryStore.Entry?) throws {
        func fail(_ what: String) throws -> Never { throw Violation(description: "\(path): \(what)") }
        guard let here else { try fail("only the store has it, as \(there?.item.identifier.rawValue ?? "")") }
        guard let there else { try fail("only the tree has it") }
        guard here.kind == there.item.kind else { try fail("two kinds") }
        if here.isDataless { try fail("its content is not here") }
        let bytes = there.item.kind == .symlink ? there.item.target ?? [] : there.content
        if here.bytes != bytes {
            try fail("the tree has \(Describe.content(here.bytes)), the store \(Describe.content(bytes))")
        }
        // Where listings tell no modes, another client's change of one is told when the item is asked for.
        let tellsModes = paths?.properties.listsAttributes ?? true
        if tellsModes, let mode = there.item.metadata.mode, mode != here.mode, here.kind != .symlink {
            try fail("mode \(String(here.mode, radix: 8)), in the store \(String(mode, radix: 8))")
        }
    }

    private func checkOwed(_ here: [String: Disk.Entry]) throws {
        let kept = try Disk.entries(folders.kept)
        let found = Set(here.values.map(\.bytes)).union(store.contents).union(kept.values.map(\.bytes))
        // Over an older database what a program left of a file cannot be told from what a power cut left of it: the whole
        // may come back.
        func isKept(_ bytes: [UInt8]) -> Bool {
            if found.contains(bytes) { return true }
            return rules.mayForget && rules.areRemains(bytes) && store.contents.contains { $0.starts(with: bytes) }
        }
        for (bytes, path) in rules.owed.sorted(by: { $0.value < $1.value }) where !isKept(bytes) {
            throw Violation(description: "lost: \(Describe.content(bytes)), written to \(path)")
        }
    }
}
