import Glibc
import ReplicaTestSupport
import Synchronization

/// A program that works in its own folder on the mount and records what was acknowledged: after its daemon was killed
/// the folder contains exactly that, except for the one unanswered call.
///
/// One thread at a time uses it.
final class Writer: @unchecked Sendable {
    let name: String
    private let folder: String
    private var random: SeededGenerator
    private(set) var tree = FileTree()
    /// The other possible state of the folder, because of the unanswered call.
    private var doubt: FileTree?
    private(set) var failures: [String] = []
    private(set) var calls = 0
    private var made = 0

    init(name: String, folder: String, seed: UInt64) {
        self.name = name
        self.folder = folder
        random = SeededGenerator(seed)
    }

    /// Works until `isStopped` or until the daemon is gone.
    func work(isStopped: borrowing Atomic<Bool>) {
        while !isStopped.load(ordering: .relaxed), failures.isEmpty {
            do {
                try step()
            } catch {
                return
            }
        }
    }

    /// Compares the folder with the record, and determines the outcome of the unanswered call.
    func check() {
        let found: FileTree
        do throws(FileTree.Failure) {
            found = try FileTree(readingFolder: folder)
        } catch {
            let known = tree.entries.filter { error.description.contains("/\($0.key):") }.keys.sorted()
            sleep(1)
            let later = try? FileTree(readingFolder: folder)
            return failures.append(
                """
                \(error); acknowledged is \(known); in doubt was \(doubt?.differences(from: tree) ?? []); \
                a second later differs: \(later?.differences(from: tree) ?? ["it cannot be read"])
                """)
        }
        defer { doubt = nil }
        if found == tree { return }
        if let doubt, isBetween(found, tree, doubt) {
            tree = found
            return
        }
        failures += found.differences(from: tree).map { "\(folder)/\($0)" }
        if let doubt { failures.append("in doubt was: \(doubt.differences(from: tree))") }
    }

    /// Whether `found` equals `after`, except that appended bytes may be incomplete.
    private func isBetween(_ found: FileTree, _ before: FileTree, _ after: FileTree) -> Bool {
        for path in Set(found.entries.keys).union(after.entries.keys) where found[path] != after[path] {
            guard case .file(let now) = found[path], case .file(let whole) = after[path],
                case .file(let old) = before[path], now.count >= old.count, whole.starts(with: now)
            else { return false }
        }
        return true
    }

    /// The daemon is gone.
    private struct Ended: Error {}

    // MARK: Calls

    /// Makes one system call that has `effect` on the tree if it succeeds.
    @discardableResult
    private func call(_ what: String, _ result: @autoclosure () -> Int, effect: (inout FileTree) -> Void) throws -> Int
    {
        var after = tree
        effect(&after)
        calls += 1
        let value = result()
        if value >= 0 {
            tree = after
            return value
        }
        let error = errno
        if isOfAnEnd(error) {
            doubt = after
        } else {
            failures.append("\(what): \(String(cString: strerror(error)))")
        }
        throw Ended()
    }

    /// Whether the daemon's end explains an error. Over rings the kernel also answers ECANCELED and EINTR then, which
    /// prove nothing by themselves.
    private func isOfAnEnd(_ error: Int32) -> Bool {
        var last = error
        while last == ECANCELED || last == EINTR {
            last = access(path("never made"), F_OK) == 0 ? 0 : errno
        }
        return last == ENOTCONN || last == ECONNABORTED
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    private func append(_ count: Int, to name: String, _ file: Int32) throws {
        let bytes = random.bytes(count)
        try call("write \(name)", write(file, bytes, bytes.count)) { tree in
            guard case .file(let old) = tree[name] else { return }
            tree[name] = .file(old + bytes)
        }
    }

    /// Opens, writes in several pieces, sometimes syncs, closes.
    private func save(_ name: String, _ flags: Int32, effect: (inout FileTree) -> Void) throws {
        let opened = try call("open \(name)", Int(open(path(name), flags | O_CLOEXEC, 0o644)), effect: effect)
        let file = Int32(opened)
        defer { close(file) }
        for _ in 0..<random.below(4) {
            try append(1 + random.below(random.below(10) == 0 ? 100_000 : 3000), to: name, file)
        }
        if random.below(3) == 0 { try call("fsync \(name)", Int(fsync(file))) { _ in } }
    }

    private func freshName(_ kind: String) -> String {
        made += 1
        let folders = tree.entries.filter { $0.value == .folder && $0.key.count < 60 }.keys.sorted()
        let fresh = "\(kind)\(made)"
        return folders.isEmpty || random.below(3) == 0 ? fresh : random.pick(folders) + "/" + fresh
    }

    private func some(_ kind: (FileTree.Entry) -> Bool) -> String? {
        let found = tree.entries.filter { kind($0.value) }.keys.sorted()
        return found.isEmpty ? nil : random.pick(found)
    }

    private func someFile() -> String? {
        some { if case .file = $0 { true } else { false } }
    }

    // MARK: Steps

    private func step() throws {
        if tree.entries.count > 60 { return try clear() }
        switch random.below(20) {
        case 0..<6: try create()
        case 6..<9: if let name = someFile() { try save(name, O_WRONLY | O_APPEND) { _ in } }
        case 9..<11: if let name = someFile() { try save(name, O_WRONLY | O_TRUNC) { $0[name] = .file([]) } }
        case 11..<13: if let name = someFile() { try saveSafely(name) }
        case 13..<15: if let name = someFile() { try rename(name, freshName("moved")) }
        case 15: if let name = some({ $0 == .folder }) { try moveFolder(name) }
        case 16: try makeFolder()
        case 17: try makeLink()
        default: if let name = some({ $0 != .folder }) { try remove(name) }
        }
    }

    private func makeFolder() throws {
        let name = freshName("dir")
        try call("mkdir \(name)", Int(mkdir(path(name), 0o755))) { $0[name] = .folder }
    }

    private func makeLink() throws {
        let name = freshName("link")
        try call("symlink \(name)", Int(symlink("target", path(name)))) { $0[name] = .symlink("target") }
    }

    private func create() throws {
        let name = freshName("file")
        try save(name, O_WRONLY | O_CREAT | O_EXCL) { $0[name] = .file([]) }
    }

    private func remove(_ name: String) throws {
        try call("unlink \(name)", Int(unlink(path(name)))) { $0[name] = nil }
    }

    private func rename(_ old: String, _ new: String) throws {
        try call("rename \(old) \(new)", Int(Glibc.rename(path(old), path(new)))) { $0.move(old, to: new) }
    }

    private func saveSafely(_ name: String) throws {
        made += 1
        let beside = "\(name).new\(made)"
        try save(beside, O_WRONLY | O_CREAT | O_EXCL) { $0[beside] = .file([]) }
        try rename(beside, name)
    }

    private func moveFolder(_ name: String) throws {
        let new = freshName("folder")
        guard !new.hasPrefix(name + "/") else { return }
        try rename(name, new)
    }

    /// Removes a folder with its contents, or half of the top-level entries.
    private func clear() throws {
        if let folder = some({ $0 == .folder }) {
            for name in tree.below(folder) { try removeAny(name) }
            try removeAny(folder)
        } else {
            for name in tree.entries.keys.sorted() where random.below(2) == 0 { try removeAny(name) }
        }
    }

    private func removeAny(_ name: String) throws {
        guard tree[name] == .folder else { return try remove(name) }
        try call("rmdir \(name)", Int(rmdir(path(name)))) { $0[name] = nil }
    }
}
