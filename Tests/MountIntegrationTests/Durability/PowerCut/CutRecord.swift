/// What one program was told before the power was cut: what its folder was after each of its calls, and what of that was
/// confirmed to it.
struct CutRecord: Sendable {
    /// What stands under a name. Files and folders are told apart by numbers, also when their names change.
    enum Entry: Hashable, Sendable {
        case file(Int)
        case folder(Int)
        case symlink(String)
    }

    /// What is said of a file beside its bytes.
    struct Attributes: Hashable, Sendable {
        var mode: UInt32
        /// The value of ``CutRecord/attribute``.
        var mark: [UInt8]?
    }

    /// Who confirmed a file's bytes.
    enum Confirmation: Hashable, Sendable {
        /// fsync(2) or fdatasync(2).
        case synced
        /// `replica wait`: the store has them too.
        case waited
    }

    /// A file through all its names.
    struct File: Sendable {
        /// Its contents from the last that was confirmed on, the oldest first; all of them where none was.
        var contents: [[UInt8]]
        /// The same of its attributes.
        var attributes: [Attributes]
        var confirmation: Confirmation?
        /// What it was since the last `replica wait`, synced over or not: the store may have any of it, which comes back when
        /// the file is removed and that comes undone.
        var former: (contents: [[UInt8]], attributes: [Attributes]) = ([], [])
        /// The contents from here on were brought to the disk without a word to the domain.
        var syncedBelow: Int?

        var content: [UInt8] { contents.last! }
    }

    /// The attribute that programs set.
    static let attribute = "user.cut"

    private(set) var files: [Int: File] = [:]
    /// What the folder was, from the last `replica wait` on, by paths from the root of the mount; the last is the present.
    private(set) var steps: [[String: Entry]] = [[:]]
    /// From which step on a path is confirmed.
    private var since: [String: Int] = [:]
    private var lastNumber = 0

    var present: [String: Entry] { steps.last! }

    /// What a path may be after a power cut; nil for a path that may be none.
    func mayBe(_ path: String) -> [Entry?] { steps[since[path, default: 0]...].map { $0[path] } }

    /// All paths that were ever something since the last `replica wait`.
    var paths: Set<String> { steps.reduce(into: []) { $0.formUnion($1.keys) } }

    /// What had a path and was removed from elsewhere after the path was confirmed to be free of it: its removal may come
    /// undone, which brings it back where the store has it.
    func mayBeBack(at path: String) -> [Entry] {
        guard let confirmed = since[path] else { return [] }
        let former = Set(steps[..<confirmed].compactMap { $0[path] })
        let moved = Set(steps[confirmed].values)
        return former.filter { moved.contains($0) && !present.values.contains($0) }
    }

    /// What had a path since the last `replica wait`, and has no name any more.
    func removed(from path: String) -> [Entry] {
        Set(steps.compactMap { $0[path] }).filter { !present.values.contains($0) }
    }

    /// What a path would be if a folder above had another of its names: whose entry was removed before it was renamed may
    /// have that again.
    func otherPaths(of path: String) -> [String] {
        guard let slash = path.lastIndex(of: "/") else { return [] }
        let folder = String(path[..<slash])
        let own = Set(steps.compactMap { $0[folder] })
        let others = steps.flatMap { step in step.filter { own.contains($0.value) }.keys }
        return Set(others).subtracting([folder]).sorted().map { $0 + path[slash...] }
    }

    /// The file under a path, as the program knows it.
    func file(_ path: String) -> File? {
        guard case .file(let number) = present[path] else { return nil }
        return files[number]
    }

    // MARK: What calls do

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

    /// A name goes to another path with all that is below it, over what is there.
    mutating func move(_ old: String, to new: String) {
        var tree = present
        for (path, entry) in present where path == old || path.hasPrefix(old + "/") {
            tree[path] = nil
            tree[new + path.dropFirst(old.count)] = entry
        }
        steps.append(tree)
    }

    mutating func write(_ content: [UInt8], to path: String) { change(path) { $0.contents.append(content) } }

    /// The content before the present one was there for a moment only: nobody may take the file to be that.
    mutating func forgetPassing(_ path: String) {
        change(path) { file in
            guard file.contents.count > (file.confirmation == nil ? 1 : 2) else { return }
            file.contents.remove(at: file.contents.count - 2)
            file.syncedBelow = nil
        }
    }

    mutating func set(_ attributes: Attributes, of path: String) { change(path) { $0.attributes.append(attributes) } }

    private mutating func change(_ path: String, _ body: (inout File) -> Void) {
        guard case .file(let number) = present[path] else { return }
        body(&files[number]!)
    }

    // MARK: What is confirmed

    /// fsync(2) or fdatasync(2) of a file. The second says nothing of its name: ext4 does not bring a rename to the disk for it.
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

    /// fsync(2) of a folder: which names it has.
    mutating func syncFolder(_ folder: String) {
        since[folder] = steps.count - 1
        for path in paths where path.hasPrefix(folder + "/") && !path.dropFirst(folder.count + 1).contains("/") {
            since[path] = steps.count - 1
        }
    }

    /// sync(2) of the disk below. What has nothing that the content before lacked may still come undone.
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
    /// What is there after a power cut, and waited for.
    /// - Parameter found: By paths from the root of the mount.
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
