import CLinux
import Glibc
import SystemPackage
import Threads

@testable import ReplicaModel
@testable import ReplicaTestSupport

/// A file that a program holds open for writing.
struct Held {
    var descriptor: Int32
    var number: ItemNumber
    var path: String
}

extension World {
    static let caller = Caller(user: geteuid(), group: getegid())

    /// What is listed here, by path; sorted, so that a pick is always the same.
    func seen(_ daemon: DaemonRun) -> [Seen] { daemon.replica.seen() }

    func pick(_ pick: Int, _ daemon: DaemonRun, _ isWanted: (Seen) -> Bool = { _ in true }) -> Seen? {
        let all = seen(daemon).filter(isWanted)
        return all.isEmpty ? nil : all[pick % all.count]
    }

    func pickFile(_ number: Int, _ daemon: DaemonRun) -> Seen? { pick(number, daemon) { $0.kind == .file } }

    func pickFolder(_ pick: Int, _ daemon: DaemonRun) -> Seen {
        let root = Seen(parent: .root, name: FileName(""), number: .root, kind: .folder, path: "")
        let all = [root] + seen(daemon).filter { $0.kind == .folder }
        return all[pick % all.count]
    }

    /// A local step that may wait for the store.
    func perform(_ step: LocalStep, _ daemon: DaemonRun) async {
        for _ in 0..<6 {
            do {
                return try act(step, daemon)
            } catch ReplicaError.needsContent(let number) {
                do { try await daemon.engine.hydrate(number, range: nil) } catch {
                    return say("  no content: \(error)")
                }
            } catch ReplicaError.needsListing(let number) {
                do { try await daemon.engine.list(number) } catch { return say("  no listing: \(error)") }
            } catch {
                return say("  \(error)")
            }
        }
    }

    /// A local step within a call of the store: what has to wait is left.
    func race(_ step: LocalStep) {
        do { try act(step, daemon) } catch { say("  \(error)") }
    }

    private func act(_ step: LocalStep, _ daemon: DaemonRun) throws {
        switch step {
        case .create, .overwrite, .append, .truncate, .save, .hold, .releaseAll: try write(step, daemon)
        case .rename, .exchange, .remove, .removeAll, .makeFolder, .makeSymlink, .link: try arrange(step, daemon)
        case .changeMode, .changeTime, .setXattr, .removeXattr, .tag: try describe(step, daemon)
        }
    }

    // MARK: What is lost

    /// What vanishes when the file of an entry is overwritten or its name is removed.
    func loss(of entry: Seen, isRemoved: Bool, _ daemon: DaemonRun) -> Loss {
        daemon.replica.withTree { tree in
            var loss = Loss()
            guard let node = tree.items[entry.parent]?.children?[entry.name] else { return loss }
            if node.kind == .file, node.materialization == .whole, !node.flags.contains(.special) {
                let isOther = isRemoved && (try? tree.place(of: node).status().links) ?? 1 > 1
                // What cannot be read was not written by the simulation.
                if !isOther, let bytes = try? Disk.read(tree.place(of: node)) { loss.contents.append(bytes) }
            }
            if let base = node.base, let content = store.content(of: base.identifier, stillAt: base.version.content) {
                loss.contents.append(content)
            }
            if isRemoved {
                // Which of two names of a file went, nobody can tell after a crash.
                let names = tree.items.names(of: node)
                loss.identifiers = (names.map { $0.base?.identifier } + names.map { $0.sent?.template }).compactMap {
                    $0
                }
            }
            return loss
        }
    }

    /// What stands at a name, if anything does.
    func entry(_ name: FileName, in folder: Seen, _ daemon: DaemonRun) -> Seen? {
        seen(daemon).first { $0.parent == folder.number && $0.name == name }
    }

    // MARK: Content

    private func write(_ step: LocalStep, _ daemon: DaemonRun) throws {
        switch step {
        case .create(let folder, let name, let content):
            let folder = pickFolder(folder, daemon)
            if let there = entry(Names[name], in: folder, daemon) {
                guard there.kind == .file else { return }
                return try overwrite(there, content, daemon)
            }
            try create(Names[name], in: folder, content, daemon)
        case .overwrite(let file, let content):
            if let file = pickFile(file, daemon) { try overwrite(file, content, daemon) }
        case .append(let file, let content):
            if let file = pickFile(file, daemon) { try change(file, O_WRONLY | O_APPEND, content, daemon) }
        case .truncate(let file, let thirds):
            guard let file = pickFile(file, daemon) else { return }
            let loss = loss(of: file, isRemoved: false, daemon)
            var change = AttributeChange()
            change.size =
                thirds == 0 ? 0 : try daemon.replica.attributes(of: file.number).status.size * Int64(thirds) / 3
            _ = try daemon.replica.setAttributes(change, of: file.number)
            rules.settle(loss)
            say("  truncate \(file.path) to \(change.size ?? 0)")
            owe(file, daemon, isCut: true)
        case .save(let file, let content): try save(file, content, daemon)
        case .hold(let file, let content):
            if let file = pickFile(file, daemon) { try hold(file, content, daemon) }
        case .releaseAll: releaseAll(isAlive: true)
        default: break
        }
    }

    @discardableResult
    private func create(_ name: FileName, in folder: Seen, _ content: Content, _ daemon: DaemonRun) throws -> Seen {
        let (entry, file) = try daemon.replica.createFile(
            name, in: folder.number, mode: 0o644, flags: O_WRONLY, caller: Self.caller)
        try Disk.write(content.bytes, to: file.descriptor)
        close(file.descriptor)
        daemon.replica.closed(entry.number, isWriter: true)
        daemon.replica.forget(entry.number, count: 1)
        let path = (folder.path.isEmpty ? "" : folder.path + "/") + name.description
        say("  create \(path): \(Describe.content(content.bytes))")
        rules.owe(content.bytes, path)
        return Seen(parent: folder.number, name: name, number: entry.number, kind: .file, path: path)
    }

    private func overwrite(_ file: Seen, _ content: Content, _ daemon: DaemonRun) throws {
        try change(file, O_WRONLY | O_TRUNC, content, daemon)
    }

    private func change(_ file: Seen, _ flags: Int32, _ content: Content, _ daemon: DaemonRun) throws {
        let loss = loss(of: file, isRemoved: false, daemon)
        let open = try daemon.replica.open(file.number, flags: flags)
        rules.settle(loss)
        try Disk.write(content.bytes, to: open.descriptor)
        close(open.descriptor)
        daemon.replica.closed(file.number, isWriter: true)
        say("  \(flags & O_TRUNC != 0 ? "overwrite" : "append to") \(file.path): \(Describe.content(content.bytes))")
        owe(file, daemon)
    }

    /// What is in a file now was acknowledged.
    private func owe(_ file: Seen, _ daemon: DaemonRun, isCut: Bool = false) {
        let bytes = daemon.replica.withTree { tree -> [UInt8]? in
            // What is left of a content that was never here is the store's.
            guard let node = tree.items[file.parent]?.children?[file.name], node.materialization == .whole else {
                return nil
            }
            return try? Disk.read(tree.place(of: node))  // As above.
        }
        if let bytes { rules.owe(bytes, file.path, isCut: isCut) }
    }

    private func save(_ file: Int, _ content: Content, _ daemon: DaemonRun) throws {
        guard let file = pickFile(file, daemon) else { return }
        let folder = Seen(parent: .root, name: FileName(""), number: file.parent, kind: .folder, path: "")
        let name = FileName("save~\(content.serial)")
        try create(name, in: folder, content, daemon)
        let loss = loss(of: file, isRemoved: true, daemon)
        try daemon.replica.rename(name, in: file.parent, to: file.name, in: file.parent, flags: [])
        rules.settle(loss)
        say("  renamed over \(file.path)")
    }

    private func hold(_ file: Seen, _ content: Content, _ daemon: DaemonRun) throws {
        let loss = loss(of: file, isRemoved: false, daemon)
        let open = try daemon.replica.open(file.number, flags: O_WRONLY | O_APPEND)
        rules.settle(loss)
        try Disk.write(content.bytes, to: open.descriptor)
        say("  hold \(file.path): \(Describe.content(content.bytes))")
        held.withLock { $0.append(Held(descriptor: open.descriptor, number: file.number, path: file.path)) }
    }

    /// Programs write their last and close.
    func releaseAll(isAlive: Bool) {
        let all = held.withLock { held in
            defer { held = [] }
            return held
        }
        for one in all {
            if let bytes = content(of: one) { rules.settle(Loss(contents: [bytes])) }
            _ = "the end".withCString { Glibc.write(one.descriptor, $0, 7) }
            if let bytes = content(of: one) { rules.owe(bytes, one.path) }
            close(one.descriptor)
            if isAlive { daemon.replica.closed(one.number, isWriter: true) }
            say("  release \(one.path)")
        }
    }

    /// What is in a file that is held, if it still has a name.
    private func content(of held: Held) -> [UInt8]? {
        do {
            guard try FileStatus(descriptor: held.descriptor).links > 0 else { return nil }
            return try Disk.read(
                BackingPath(folder: AT_FDCWD, name: FileName("/proc/self/fd/\(held.descriptor)"), isOrphan: true))
        } catch {
            return nil  // The file was replaced by another meanwhile.
        }
    }
}
