/// A change, synced in one way or not at all: what ACE (OSDI 2018, "Finding Crash-Consistency Bugs with Bounded
/// Black-Box Crash Testing") calls a workload of one operation.
struct CutWorkload: Sendable, CustomStringConvertible {
    enum Change: CaseIterable {
        case create, makeFolder, link, symlink, rename, renameFolder, renameOver, saveBeside, unlink, removeFolder
        case replace, rewrite, overwrite, append, cut, grow, allocate, punch, writeMapped, setAttribute, setMode
    }

    enum Sync: CaseIterable {
        case none, file, data, folder
        /// Like sync(2) for these disks.
        case disks
    }

    let change: Change
    let sync: Sync

    var description: String { "\(change) + \(sync)" }

    /// All meaningful workloads.
    static let all = Change.allCases.flatMap { change in
        Sync.allCases.filter { isSensible(change, $0) }.map { CutWorkload(change: change, sync: $0) }
    }

    private static func isSensible(_ change: Change, _ sync: Sync) -> Bool {
        switch (change, sync) {
        case (.unlink, .file), (.unlink, .data), (.removeFolder, .file), (.removeFolder, .data): false
        case (.symlink, .file), (.symlink, .data), (.makeFolder, .data), (.renameFolder, .data): false
        default: true
        }
    }

    /// Creates what the change needs; it is settled before the change.
    static func setUp(_ program: CutProgram) throws {
        let at = program.folder
        try program.makeFolder(at)
        try program.create("\(at)/f", 9000)
        try program.create("\(at)/g", 5000)
        try program.makeFolder("\(at)/d")
        try program.create("\(at)/d/x", 700)
        try program.makeFolder("\(at)/e")
    }

    func run(_ program: CutProgram) throws {
        try perform(program)
        switch sync {
        // The caller syncs the disks.
        case .none, .disks: break
        case .file: try syncSubject(program)
        case .data: try program.sync(subject(program.folder), withAttributes: false)
        case .folder:
            if change == .rename { try program.syncFolder("\(program.folder)/d") }
            try program.syncFolder(program.folder)
        }
    }

    private func perform(_ program: CutProgram) throws {
        let at = program.folder
        let (file, subject) = ("\(at)/f", subject(at))
        switch change {
        case .create: try program.create(subject, 6000)
        case .makeFolder: try program.makeFolder(subject)
        case .link: try program.link(file, subject)
        case .symlink: try program.makeLink(subject)
        case .rename: try program.rename(file, subject)
        case .renameFolder: try program.rename("\(at)/d", subject)
        case .renameOver: try program.rename(file, subject)
        case .saveBeside:
            try program.create("\(at)/f.new", 8000)
            try program.rename("\(at)/f.new", file)
        case .unlink: try program.unlink(file)
        case .removeFolder: try program.removeFolder("\(at)/e")
        case .replace:
            try program.unlink(file)
            try program.create(file, 7000)
        case .rewrite: try program.rewrite(file, 7000)
        case .overwrite: try program.overwrite(3000, at: 2000, of: file)
        case .append: try program.append(3000, to: file)
        case .cut: try program.truncate(file, to: 4000)
        case .grow: try program.truncate(file, to: 12000)
        case .allocate: try program.allocate(5000, after: file)
        case .punch: try program.punch(4096, at: 4096, of: file)
        case .writeMapped: try program.writeMapped(3000, at: 2000, of: file, isSynced: false)
        case .setAttribute: try program.mark(file)
        case .setMode: try program.setMode(0o640, of: file)
        }
    }

    /// The paths of the change, after it.
    private func subject(_ at: String) -> String {
        switch change {
        case .create, .makeFolder, .link, .symlink: "\(at)/n"
        case .rename: "\(at)/d/f"
        case .renameFolder: "\(at)/moved"
        case .renameOver: "\(at)/g"
        default: "\(at)/f"
        }
    }

    private func syncSubject(_ program: CutProgram) throws {
        let subject = subject(program.folder)
        switch change {
        case .makeFolder, .renameFolder: try program.syncFolder(subject)
        default: try program.sync(subject, withAttributes: true)
        }
    }
}

extension CutProgram {
    /// A random change, and sometimes a sync, in an existing folder.
    func step() throws {
        if told.paths.count > 40 { try clear() }
        let files = names { if case .file = $0 { true } else { false } }
        guard !files.isEmpty, random.below(4) > 0 else { return try makeSomething() }
        let file = random.pick(files)
        let size = told.file(file)!.content.count
        switch random.below(11) {
        case 0: try append(1 + random.below(6000), to: file)
        case 1: try overwrite(1 + random.below(3000), at: random.below(size + 1), of: file)
        case 2: try rewrite(file, 1 + random.below(9000))
        case 3: try truncate(file, to: random.below(size + 4000))
        case 4: try rename(file, fresh("moved"))
        case 5:
            let beside = fresh("new")
            try create(beside, 1 + random.below(9000))
            if random.below(2) == 0 { try sync(beside, withAttributes: true) }
            try rename(beside, file)
        case 6: try unlink(file)
        case 7: try link(file, fresh("link"))
        case 8: try mark(file)
        case 9: try setMode(random.pick([0o600, 0o644, 0o640]), of: file)
        default:
            if let last = names(isFolder).last, last != folder { try rename(last, fresh("folder", at: folder)) }
        }
        if told.file(file) != nil, random.below(4) == 0 { try sync(file, withAttributes: random.below(2) == 0) }
        if random.below(10) == 0, let folder = names(isFolder).first { try syncFolder(folder) }
    }

    private func makeSomething() throws {
        switch random.below(5) {
        case 0: try makeFolder(fresh("dir"))
        case 1: try makeLink(fresh("link"))
        default: try create(fresh("file"), 1 + random.below(random.below(5) == 0 ? 60_000 : 5000))
        }
    }

    private func isFolder(_ entry: CutRecord.Entry) -> Bool { if case .folder = entry { true } else { false } }

    private func names(_ isWanted: (CutRecord.Entry) -> Bool) -> [String] {
        told.present.filter { isWanted($0.value) }.keys.sorted()
    }

    private func fresh(_ kind: String, at place: String? = nil) -> String {
        made += 1
        let folders = names(isFolder).filter { $0.utf8.count < 40 }
        return "\(place ?? random.pick(folders))/\(kind)\(made)"
    }

    /// Removes half of the entries, and empties no folder that it does not remove.
    private func clear() throws {
        for name in names({ _ in true }).reversed() where name != folder && random.below(2) == 0 {
            if told.present[name].map(isFolder) == true {
                if !told.present.keys.contains(where: { $0.hasPrefix(name + "/") }) { try removeFolder(name) }
            } else {
                try unlink(name)
            }
        }
    }
}
