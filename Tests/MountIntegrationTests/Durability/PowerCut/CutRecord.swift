/// The record of a program before the power cut: the state of its folder after each of its calls, and which of them was
/// confirmed.
struct CutRecord: Sendable {
    /// The entry under a name. Files and folders have numbers, which they keep if their names change.
    enum Entry: Hashable, Sendable {
        case file(Int)
        case folder(Int)
        case symlink(String)
    }

    /// A file's attributes.
    struct Attributes: Hashable, Sendable {
        var mode: UInt32
        /// The value of ``CutRecord/attribute``.
        var mark: [UInt8]?
    }

    /// How a file's bytes were confirmed.
    enum Confirmation: Hashable, Sendable {
        /// fsync(2) or fdatasync(2).
        case synced
        /// `replica wait`: the store has them too.
        case waited
    }

    /// A file through all its names.
    struct File: Sendable {
        /// Its contents since the last confirmed one, the oldest first; all of them if none was.
        var contents: [[UInt8]]
        /// The same for its attributes.
        var attributes: [Attributes]
        var confirmation: Confirmation?
        /// Its contents since the last `replica wait`, replaced by synced ones or not: the store may have any of them,
        /// which returns if the file is removed and the removal is undone.
        var former: (contents: [[UInt8]], attributes: [Attributes]) = ([], [])
        /// The files whose names it took, and which are its item in the store until it is sent.
        var replaced: [Int] = []
        /// The contents from here on reached the disk without the domain's knowledge.
        var syncedBelow: Int?

        var content: [UInt8] { contents.last! }
    }

    /// The attribute set by programs.
    static let attribute = "user.cut"

    private(set) var files: [Int: File] = [:]
    /// The states of the folder since the last `replica wait`, by path from the root of the mount; the last one is the
    /// current.
    private(set) var steps: [[String: Entry]] = [[:]]
    /// The step from which a path is confirmed.
    private var since: [String: Int] = [:]
    private var lastNumber = 0

    var present: [String: Entry] { steps.last! }

    /// The possible entries of a path after a power cut; nil means that it may be missing.
    func mayBe(_ path: String) -> [Entry?] { steps[since[path, default: 0]...].map { $0[path] } }

    /// All paths that existed since the last `replica wait`.
    var paths: Set<String> { steps.reduce(into: []) { $0.formUnion($1.keys) } }

    /// Entries that had this path and were removed at another path after this one was confirmed as free: an undone
    /// removal brings them back at the store's path.
    func mayBeBack(at path: String) -> [Entry] {
        guard let confirmed = since[path] else { return [] }
        let former = Set(steps[..<confirmed].compactMap { $0[path] })
        let moved = Set(steps[confirmed].values)
        return former.filter { moved.contains($0) && !present.values.contains($0) }
    }

    /// Entries that had a path since the last `replica wait`, and have no name any more.
    func removed(from path: String) -> [Entry] {
        Set(steps.compactMap { $0[path] }).filter { !present.values.contains($0) }
    }

    /// The possible entries of a path if a parent folder had another of its names: a folder may have an entry again
    /// that was removed before the folder was renamed.
    func otherPaths(of path: String) -> [String] {
        guard let slash = path.lastIndex(of: "/") else { return [] }
        let folder = String(path[..<slash])
        let own = Set(steps.compactMap { $0[folder] })
        let others = steps.flatMap { step in step.filter { own.contains($0.value) }.keys }
        return Set(others).subtracting([folder]).sorted().map { $0 + path[slash...] }
    }

    /// What the store may have of a file: each state since the last `replica wait`, also of those that it replaced.
    func former(_ number: Int) -> (contents: [[UInt8]], attributes: [Attributes]) {
        guard let file = files[number] else { return ([], []) }
        var (contents, attributes) = (file.former.contents + file.contents, file.former.attributes + file.attributes)
        for other in file.replaced {
            let before = former(other)
            contents += before.contents
            attributes += before.attributes
        }
        return (contents, attributes)
    }

    /// The file under a path in the record.
    func file(_ path: String) -> File? {
        guard case .file(let number) = present[path] else { return nil }
        return files[number]
    }

    // MARK: Effects of calls

    mutating func makeFile(_ path: String, mode: UInt32 = 0o644) {
        lastNumber += 1
        files[lastNumber] = File(contents: [[]], attributes: [Attributes(mode: mode)])
        place(.file(lastNumber), at: path)
    }

    mutating func makeFolder(_ path: String) {
        lastNumber += 1
        place(.folder(lastNumber), at: path)
    }

    mutating func place(_ entry: Entry?, at path: String) {
        var tree = present
        tree[path] = entry
        steps.append(tree)
    }

    /// Moves a name to another path with everything below it, replacing any entry there.
    mutating func move(_ old: String, to new: String) {
        var tree = present
        if case .file(let over) = tree[new], case .file(let number) = tree[old] { files[number]!.replaced.append(over) }
        for (path, entry) in present where path == old || path.hasPrefix(old + "/") {
            tree[path] = nil
            tree[new + path.dropFirst(old.count)] = entry
        }
        steps.append(tree)
    }

    mutating func write(_ content: [UInt8], to path: String) { change(path) { $0.contents.append(content) } }

    /// The former content existed only for a moment: the file must not end up with it. A file that is synced, and that the
    /// store does not have, may.
    mutating func forgetPassing(_ path: String) {
        change(path) { file in
            guard file.confirmation != .synced, file.contents.count > (file.confirmation == nil ? 1 : 2) else { return }
            file.contents.remove(at: file.contents.count - 2)
            file.syncedBelow = nil
        }
    }

    mutating func set(_ attributes: Attributes, of path: String) { change(path) { $0.attributes.append(attributes) } }

    private mutating func change(_ path: String, _ body: (inout File) -> Void) {
        guard case .file(let number) = present[path] else { return }
        body(&files[number]!)
    }

    // MARK: Confirmations

    /// fsync(2) or fdatasync(2) of a file. The second does not cover its name: ext4 does not write a rename for it.
    mutating func sync(_ path: String, withAttributes: Bool) {
        change(path) { file in
            file.former.contents += file.contents.dropLast()
            file.former.attributes += file.attributes.dropLast()
            file.contents.removeFirst(file.contents.count - 1)
            file.syncedBelow = nil
            if withAttributes { file.attributes.removeFirst(file.attributes.count - 1) }
            if file.confirmation == nil { file.confirmation = .synced }
        }
        if withAttributes { since[path] = steps.count - 1 }
    }

    /// fsync(2) of a folder: confirms its names.
    mutating func syncFolder(_ folder: String) {
        since[folder] = steps.count - 1
        for path in paths where path.hasPrefix(folder + "/") && !path.dropFirst(folder.count + 1).contains("/") {
            since[path] = steps.count - 1
        }
    }

    /// sync(2) of the backing disk. A content without bytes that the former one lacked may still be undone.
    mutating func syncDisk() {
        for case .file(let number) in Set(present.values) {
            let file = files[number]!
            let known = file.confirmation == nil ? [] : file.contents[0]
            let hasMore = file.content.indices.contains { index in
                file.content[index] != 0 && (index >= known.count || known[index] != file.content[index])
            }
            if hasMore { files[number]!.syncedBelow = file.contents.count - 1 }
        }
    }

    /// `replica wait`.
    mutating func wait() {
        let tree = present
        (steps, since) = ([tree], [:])
        let there = Set(tree.values)
        files = files.filter { there.contains(.file($0.key)) }.mapValues { file in
            File(contents: [file.content], attributes: [file.attributes.last!], confirmation: .waited)
        }
    }
}

extension CutRecord {
    /// The settled state after a power cut.
    /// - Parameter found: By path from the root of the mount.
    init(found: FoundTree, below folder: String) {
        self.init()
        var numbers: [UInt64: Int] = [:]
        var tree: [String: Entry] = [:]
        for (path, entry) in found.entries where path == folder || path.hasPrefix(folder + "/") {
            switch entry {
            case .folder:
                lastNumber += 1
                tree[path] = .folder(lastNumber)
            case .symlink(let target): tree[path] = .symlink(target)
            case .file(let file):
                if numbers[file.inode] == nil {
                    lastNumber += 1
                    numbers[file.inode] = lastNumber
                    files[lastNumber] = File(
                        contents: [file.content], attributes: [file.attributes], confirmation: .waited)
                }
                tree[path] = .file(numbers[file.inode]!)
            }
        }
        steps = [tree]
    }
}
