internal import CLinux
internal import Glibc

/// How the last run ended, according to the database and the tree.
struct LastRun {
    var epoch: UInt64
    var nextNumber: UInt64
    /// Whether there was no last run.
    var isFirst: Bool
    /// Whether the tree is a copy of the recorded one.
    var isCopied: Bool
    /// Whether the tree has the attribute with the number of starts.
    var isTreeNumbered: Bool
    /// Nil after a clean stop.
    var scanMode: ScanMode?
    var templatePrefix: String
    /// See ``memory(of:)``.
    private var memory: String
    /// Whether the items have to be put in doubt, as at the first start after a power cut.
    private var isAnew: Bool
    let rounds: DurabilityRounds

    init(_ database: ReplicaDatabase, root: Int32) throws {
        let place = BackingPath(root: root)
        // A tree that was never used has no number, or one from elsewhere, which may be anything.
        let inTree = (try? place.xattr(OwnXattr.epoch)).flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
            .flatMap { $0 < Self.greatestEpoch ? $0 : nil }
        let fresh = (0..<8).map { _ in String(UInt8.random(in: 0...255), radix: 16) }.joined()
        let (recorded, state, boot, number, prefix, scan) = try database.read { rows in
            (
                try Meta.epoch.read(from: rows).flatMap { UInt64($0) }, try Meta.state.read(from: rows),
                try Meta.boot.read(from: rows), try Meta.nextNumber.read(from: rows).flatMap { UInt64($0) },
                try Meta.templatePrefix.read(from: rows),
                try Meta.scan.read(from: rows).flatMap { Int($0) }.flatMap(ScanMode.init)
            )
        }
        let memory = Self.memory(of: root)
        let (here, inStore, isUndurable) = try database.read { rows in
            let here = try Meta.durableHere.read(from: rows).flatMap { Int64($0) } ?? 0
            let inStore = try Meta.durableInStore.read(from: rows).flatMap { Int64($0) } ?? 0
            let isUndurable = try boot != memory && ItemRow.areUndurable(after: min(here, inStore), in: rows)
            return (here, inStore, isUndurable)
        }
        self.memory = memory
        isFirst = recorded == nil
        isTreeNumbered = inTree != nil
        isCopied = try recorded != nil && database.read { try CopiedTree.isCopy(root, in: $0) }
        epoch = max(recorded ?? 0, inTree ?? 0)
        nextNumber = number ?? 2
        // An exchanged database does not know all templates that were sent.
        templatePrefix = recorded == inTree ? prefix ?? fresh : fresh
        switch (recorded, inTree) {
        case (nil, _): scanMode = .importing
        case (let recorded, let inTree) where recorded != inTree || isCopied: scanMode = .afterExchange
        case _ where boot == memory: scanMode = state == "clean" ? nil : .afterCrash
        default: scanMode = state == "clean" && !isUndurable ? nil : .afterPowerCut
        }
        // Templates of the last run that the database has lost must not be used for other items.
        if scanMode?.isCareful ?? false { templatePrefix = fresh }
        // A complete copy has what was in memory, too. It has no number if its attributes were not copied.
        let isComplete = isCopied && state == "clean" && (recorded == inTree || inTree == nil)
        isAnew = scanMode?.isCareful ?? false && !isComplete
        rounds = DurabilityRounds(
            first: Int64(truncatingIfNeeded: (epoch + 1) & 0x7F_FFFF_FFFF) << 24 | 1, here: here, inStore: inStore)
        // If a careful comparison was interrupted, the next one is as careful.
        scanMode = [scanMode, scan].compactMap { $0 }.max()
    }

    /// An upper limit of the number of starts.
    private static let greatestEpoch: UInt64 = 1 << 40

    /// Notes that a run begins.
    func beginNext(_ database: ReplicaDatabase, root: Int32) throws {
        try database.write { rows in
            try Meta.epoch.write(String(epoch + 1), to: rows)
            try Meta.state.write("running", to: rows)
            try Meta.boot.write(memory, to: rows)
            try Meta.templatePrefix.write(templatePrefix, to: rows)
            if isAnew {
                try ItemRow.doubtAll(after: rounds.here, inStore: rounds.inStore, in: rows)
                try SupersededRows.remove(through: rounds.inStore, from: rows)
                try SupersededRows.repeatDeletions(in: rows)
            }
            try Incoming.markOfEarlierRun(isClean: scanMode == nil, in: rows)
            try Meta.scan.write(scanMode.map { String($0.rawValue) }, to: rows)
            if isFirst { try Meta.importing.write("yes", to: rows) }
        }
        try BackingPath(root: root).writeEpoch(epoch + 1)
    }

    /// Identifies the memory that holds writes to the tree until they are on its disk: the boot, and the mount. A
    /// filesystem that was mounted again may have lost them, for example if its disk was unplugged.
    private static func memory(of root: Int32) -> String {
        boot + (FileStatus.mount(of: root).map { " \($0)" } ?? "")
    }

    private static var boot: String {
        var text = [UInt8](repeating: 0, count: 64)
        let file = Glibc.open(CL_BOOT_ID, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let length = read(file, &text, text.count)
        return String(decoding: text.prefix(max(0, length)).filter { $0 > 32 }, as: UTF8.self)
    }
}
