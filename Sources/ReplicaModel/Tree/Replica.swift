internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

/// The local side of a domain: the backing tree and its state.
///
/// Every method may be called from any thread. Those for the filesystem only make system calls on the backing tree and
/// never wait for the network; the engine knows their changes when they return, and after a crash the changes are found
/// by comparing the tree with the database (docs/decisions/no-intent-log.md). Large: one method for each step of a flow
/// that takes the tree's lock, in the folder of that flow.
package final class Replica: Sendable {
    let tree: Locked<Tree>
    let database: ReplicaDatabase
    /// Where the domain's folders are.
    package let folders: StateFolders
    let recording = Locked(Recording(), rank: .recording)
    /// See ``recordingRest``.
    let recordingRetryAt = Locked(0.0, rank: .innermost)
    /// The value of ``Unrecorded/unobservableChanges`` up to which the database survives a power cut.
    let durable = Locked<UInt64>(0, rank: .durable)
    let presenter = Locked<(any Presenter)?>(nil)
    let fillLocks = FillLocks()
    /// The domain's events. A listener that is too slow loses the oldest.
    let events = Listeners<DomainEvent>(keeping: .bufferingNewest(16_384))
    /// Called after local changes; must return immediately.
    let wake: @Sendable () -> Void
    let clock: RunClock
    /// Unique to this replica, so that template identifiers are.
    let templatePrefix: String

    init(
        folders: StateFolders, tree: Tree, database: ReplicaDatabase, templatePrefix: String,
        clock: RunClock, wake: @escaping @Sendable () -> Void
    ) {
        self.folders = folders
        self.tree = Locked(tree, rank: .tree)
        self.database = database
        self.templatePrefix = templatePrefix
        self.clock = clock
        self.wake = wake
    }

    /// The time of this run, in seconds since 1970.
    @Sendable func now() -> Double { clock.now() }

    /// The wall-clock time of a next attempt, which was recorded by the clock of this run or an earlier one.
    func wallTime(of retryAt: Timestamp) -> Timestamp {
        clock.wallTime(of: Backoff.bounded(retryAt.secondsSince1970, now: now()))
    }

    /// Runs `body` with exclusive access to the tree, and wakes the engine if there is something to send afterwards.
    func withTreeWaking<Result>(_ body: (Tree) throws(ReplicaError) -> Result) throws(ReplicaError) -> Result {
        var isNews = false
        defer { if isNews { wake() } }
        return try tree.withLock { (tree) throws(ReplicaError) in
            defer { isNews = tree.pending.takeChange() }
            return try body(tree)
        }
    }

    /// As ``withTreeWaking(_:)``; a truncation runs while no fetched bytes are written to the file.
    /// - Parameter number: The file as programs see it.
    func withTreeWaking<Result>(
        _ number: ItemNumber, cuts: Bool, _ body: (Tree) throws(ReplicaError) -> Result
    ) throws(ReplicaError) -> Result {
        guard cuts else { return try withTreeWaking(body) }
        return try fillLocks.withLock(number) { () throws(ReplicaError) in try withTreeWaking(body) }
    }

    /// Runs `body` with exclusive access to the tree; for code that can't fail.
    func withTree<Result>(_ body: (Tree) -> Result) -> Result {
        tree.withLock { body($0) }
    }
}

extension Tree {
    /// A listed folder, with its entries loaded.
    func listed(_ item: some ItemReference) throws(ReplicaError) -> Node {
        let folder = try folder(item)
        guard folder.materialization == .whole else { throw .needsListing(item.number) }
        try children(of: folder)
        return folder
    }

    /// The entry `name` of a listed folder.
    func existing(_ name: FileName, in folder: Node) throws(ReplicaError) -> Node {
        guard name.bytes.count <= 255 else { throw .errno(.fileNameTooLong) }
        guard let node = folder.children?[name] else { throw .errno(.noSuchFileOrDirectory) }
        return node
    }

    /// Makes sure that `folder` has no entry `name` and can have one.
    func vacant(_ name: FileName, in folder: Node) throws(ReplicaError) {
        guard name.bytes.count <= 255 else { throw .errno(.fileNameTooLong) }
        guard folder.children?[name] == nil else { throw .errno(.fileExists) }
        guard !folder.isDeleted else { throw .errno(.noSuchFileOrDirectory) }
    }
}
