internal import CLinux
internal import Glibc
internal import Logging
internal import SystemPackage

extension Replica {
    /// Opens the replica in `folders`, whose tree is there; what the last run left open is found by ``scan(isStopped:)``.
    /// - Throws: An errno of the tree, or the database's error.
    static func open(
        _ folders: StateFolders, now: @escaping @Sendable () -> Double, wake: @escaping @Sendable () -> Void
    ) throws -> Replica {
        try folders.make()
        try folders.emptyStaging()
        let root = try folders.tree.withPlatformString { (path) throws(Errno) in
            try Errno.check(Glibc.open(path, CL_O_PATH | O_DIRECTORY | O_CLOEXEC))
        }
        let database = try ReplicaDatabase(path: folders.database.string)
        let last = try LastRun(database, root: root)
        let tree = Tree(
            root: root, rootRow: try database.read { try ItemRow.of(ItemNumber.root, in: $0) },
            nextNumber: last.nextNumber,
            database: database, now: now)
        tree.scan = last.scanMode
        try last.beginNext(database, root: root, isImport: last.scanMode == .importing)
        try tree.start()
        return Replica(
            folders: folders, tree: tree, database: database, templatePrefix: last.templatePrefix, now: now, wake: wake)
    }

    /// Records everything and notes that the stop was orderly. Nothing may be called after it.
    public func close() throws {
        let isScanned = !isScanning
        settleWriters()
        try record { rows in
            if isScanned { try Meta.state.write("clean", to: rows) }
        }
        try database.makeDurable()
        try database.close()
    }
}

extension Tree {
    /// Makes the root known and loads what waits to be sent.
    fileprivate func start() throws(Obstacle) {
        if !root.isRecorded {
            root.stamp = Stamp(try errnos { () throws(Errno) in try FileStatus(descriptor: root.descriptor) })
            root.children = [:]
            root.lookups = 1
            setBase(
                Base(
                    identifier: .root, parent: .root, name: FileName(""),
                    version: .beforeFirstSync, size: 0), of: root)
        }
        root.lookups += 1
        try loadPending()
    }
}

extension StateFolders {
    fileprivate func emptyStaging() throws(Errno) {
        let folder = try Errno.check(
            staging.withPlatformString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        defer { Glibc.close(folder) }
        let lines = try FolderListing(of: folder).lines
        for line in lines where line.status.kind != .folder {
            _ = line.name.withCString { unlinkat(folder, $0, 0) }
        }
    }
}

/// How the last run ended, as database and tree tell.
private struct LastRun {
    var epoch: UInt64
    var nextNumber: UInt64
    var scanMode: ScanMode
    var templatePrefix: String

    init(_ database: ReplicaDatabase, root: Int32) throws {
        let place = Place(folder: root, name: FileName("."))
        // A tree that was never used has none.
        let inTree = (try? place.xattr(OwnXattr.epoch)).flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
        let fresh = (0..<8).map { _ in String(UInt8.random(in: 0...255), radix: 16) }.joined()
        let (recorded, state, boot, number, prefix) = try database.read { rows in
            (
                try Meta.epoch.read(from: rows).flatMap { UInt64($0) }, try Meta.state.read(from: rows),
                try Meta.boot.read(from: rows), try Meta.nextNumber.read(from: rows).flatMap { UInt64($0) },
                try Meta.templatePrefix.read(from: rows)
            )
        }
        epoch = max(recorded ?? 0, inTree ?? 0)
        nextNumber = number ?? 2
        // Another database did not know all templates that were sent.
        templatePrefix = recorded == inTree ? prefix ?? fresh : fresh
        switch (recorded, inTree) {
        case (nil, _): scanMode = .importing
        case (let recorded, let inTree) where recorded != inTree: scanMode = .afterPowerCut
        default: scanMode = state == "clean" ? .none : boot == Self.currentBoot ? .afterCrash : .afterPowerCut
        }
    }

    /// Notes that a run begins.
    func beginNext(_ database: ReplicaDatabase, root: Int32, isImport: Bool) throws {
        let next = String(epoch + 1)
        try database.write { rows in
            try Meta.epoch.write(next, to: rows)
            try Meta.state.write("running", to: rows)
            try Meta.boot.write(Self.currentBoot, to: rows)
            try Meta.templatePrefix.write(templatePrefix, to: rows)
            try Incoming.carryOver(isClean: scanMode == .none, in: rows)
            if isImport { try Meta.importing.write("yes", to: rows) }
        }
        let place = Place(folder: root, name: FileName("."))
        try place.setXattr(OwnXattr.epoch, to: Array(next.utf8))
    }

    private static var currentBoot: String {
        var text = [UInt8](repeating: 0, count: 64)
        let file = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let length = read(file, &text, text.count)
        return String(decoding: text.prefix(max(0, length)).filter { $0 > 32 }, as: UTF8.self)
    }
}
