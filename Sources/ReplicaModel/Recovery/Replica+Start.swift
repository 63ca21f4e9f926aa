internal import CLinux
internal import Glibc
internal import Logging
internal import SystemPackage

extension Replica {
    /// Opens the replica in `folders`, which must contain the tree. What the last run left unfinished is found by
    /// ``scan(isStopped:)``.
    /// - Throws: An errno of the tree, or the database's error.
    static func open(
        _ folders: StateFolders, clock: RunClock = RunClock(), wake: @escaping @Sendable () -> Void
    ) throws -> Replica {
        try folders.make()
        try folders.emptyStaging()
        folders.giveBackReserve()
        let root = try folders.tree.withPlatformString { (path) throws(Errno) in
            try Errno.check(Glibc.open(path, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
        }
        let database = try ReplicaDatabase(path: folders.database.string)
        let last = try LastRun(database, root: root)
        let mark = try folders.loadMark()
        if last.isCopied {
            let hasAttributes = last.isTreeNumbered
            try database.write { rows in
                try CopiedTree(root: root, rows: rows, mark: mark, hasAttributes: hasAttributes).adopt()
            }
        }
        let tree = Tree(
            root: root, rootRow: try database.read { try ItemRow.of(ItemNumber.root, in: $0) },
            nextNumber: last.nextNumber,
            database: database, mark: mark, clock: clock)
        tree.scan = last.scanMode.map { ScanState(mode: $0, knewNothing: last.isFirst, folders: folders) }
        tree.unrecorded.rounds = last.rounds
        tree.items.holdsAll = last.isFirst
        try last.beginNext(database, root: root)
        if let scan = last.scanMode {
            let round = last.rounds.present
            try database.write { rows in
                try SetAsideRecovery(folders: folders, root: root, rows: rows, mark: mark, scan: scan, round: round)
                    .run()
            }
        }
        try tree.start()
        return Replica(
            folders: folders, tree: tree, database: database, templatePrefix: last.templatePrefix,
            clock: clock, wake: wake)
    }

    /// Records everything and notes that the stop was clean. Nothing may be called afterwards.
    package func close() throws {
        settleWriters()
        // A mapping may outlive this process: then the next start has to compare the tree.
        let isClean = !isScanning && !hasWriters
        var epoch: UInt64 = 0
        try record { rows in
            if isClean { try Meta.state.write("clean", to: rows) }
            epoch = (try Meta.epoch.read(from: rows).flatMap { UInt64($0) } ?? 0) + 1
            try Meta.epoch.write(String(epoch), to: rows)
        }
        try database.makeDurable()
        try database.close()
        // An older copy of the database is recognized by this number.
        try BackingPath(root: withTree { $0.root.descriptor }).writeEpoch(epoch)
    }
}

extension Tree {
    /// Loads the root and what is pending.
    fileprivate func start() throws(ReplicaError) {
        if !root.isRecorded {
            root.fingerprint = FileFingerprint(
                try errnos { () throws(Errno) in try FileStatus(descriptor: root.descriptor) })
            root.children = [:]
            root.lookups = 1
            let isMarked = try errnos { () throws(Errno) in try mark.isOn(BackingPath(root: root.descriptor)) }
            if isMarked { root.materialization = .dataless }
            setBase(
                Base(
                    identifier: .root, parent: .root, name: FileName(""),
                    version: .beforeFirstSync, size: 0), of: root)
        }
        root.lookups += 1
        try loadPending()
    }
}

extension BackingPath {
    /// The place of the tree's root, given a descriptor of it.
    init(root descriptor: Int32) { self.init(folder: descriptor, name: FileName(".")) }

    /// Notes in the tree which database belongs to it.
    func writeEpoch(_ epoch: UInt64) throws(Errno) {
        try setXattr(OwnXattr.epoch, to: Array(String(epoch).utf8))
    }
}
