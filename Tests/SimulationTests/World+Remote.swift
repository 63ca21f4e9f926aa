import SystemPackage

@testable import ReplicaModel
@testable import ReplicaTestSupport

extension World {
    /// What another client does in the store.
    func perform(_ step: RemoteStep) {
        let entries = store.entries
        let paths = entries.keys.sorted()
        func pick(_ number: Int, _ kinds: Set<ItemKind>) -> String? {
            let all = paths.filter { kinds.contains(entries[$0]!.item.kind) }
            return all.isEmpty ? nil : all[number % all.count]
        }
        func place(_ folder: Int, _ name: Int) -> String {
            let all = [""] + paths.filter { entries[$0]!.item.kind == .folder }
            let above = all[folder % all.count]
            return (above.isEmpty ? "" : above + "/") + Names[name].description
        }
        switch step {
        case .create(let folder, let name, let content): write(content, to: place(folder, name))
        case .overwrite(let file, let content):
            if let path = pick(file, [.file]) { write(content, to: path) }
        case .makeFolder(let folder, let name):
            let path = place(folder, name)
            guard entries[path] == nil else { return }
            store.makeFolder(at: path)
            say("  remote: mkdir \(path)")
        case .makeSymlink(let folder, let name, let content):
            let path = place(folder, name)
            guard entries[path] == nil else { return }
            store.makeSymlink(at: path, to: "target \(content.serial)")
            say("  remote: symlink \(path)")
        case .move(let item, let folder, let name):
            if let path = pick(item, [.file, .folder, .symlink]) { move(path, to: place(folder, name)) }
        case .delete(let item):
            guard let path = pick(item, [.file, .folder, .symlink]) else { return }
            rules.settle(remoteLoss(at: path))
            store.delete(at: path)
            say("  remote: delete \(path)")
        case .deleteMost(let number):
            for (index, path) in paths.enumerated() where (index + number) % 6 != 0 {
                guard store.holds(path: path) else { continue }
                rules.settle(remoteLoss(at: path))
                store.delete(at: path)
                say("  remote: delete \(path)")
            }
        case .changeMode(let item, let mode):
            guard let path = pick(item, [.file, .folder]) else { return }
            store.setMode(mode | 0o700, of: path)
            say("  remote: chmod \(path)")
        case .setXattr(let item, let content):
            guard let path = pick(item, [.file, .folder]) else { return }
            store.setNote(Content(serial: content.serial).bytes, of: path)
            say("  remote: xattr of \(path)")
        }
    }

    private func write(_ content: Content, to path: String) {
        if let there = store.entries[path] {
            guard there.item.kind == .file else { return }
            rules.settle(remoteLoss(at: path))
        }
        let date = Timestamp(seconds: 2_000_000 + Int64(content.serial), nanoseconds: 7)
        store.put(content.bytes, dated: date, at: path)
        rules.owe(content.bytes, "store:\(path)")
        say("  remote: write \(path): \(Describe.content(content.bytes))")
    }

    private func move(_ path: String, to target: String) {
        guard path != target, !target.hasPrefix(path + "/"), !path.hasPrefix(target + "/") else { return }
        let loss = store.holds(path: target) ? remoteLoss(at: target) : Loss()
        guard store.relocate(path, to: target) else { return }
        rules.settle(loss)
        say("  remote: move \(path) to \(target)")
    }

    /// What vanishes from the store with an item and all below it.
    private func remoteLoss(at path: String) -> Loss {
        let gone = store.entries.filter { $0.key == path || $0.key.hasPrefix(path + "/") }
        return Loss(contents: gone.values.filter { $0.item.kind == .file }.map(\.content))
    }
}
