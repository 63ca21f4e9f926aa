import ReplicaModel
import ReplicaTestSupport

/// One thing that happens in a simulated world. Whom it happens to is a number into the sorted list of those there
/// are then, so that a step makes sense wherever shrinking leaves it.
enum Step: Sendable, Hashable {
    case local(LocalStep)
    case remote(RemoteStep)
    case receive
    case send
    case record
    /// So many seconds pass.
    case pass(Int)
    /// The wall clock is set by so many seconds: no time passes.
    case setClock(Int)
    /// Calls about an item that the store has are refused, so many.
    case refuse(Int, times: Int)
    /// A call of the store after so many of its kind fails.
    case fault(StoreCall.Method, FaultyStore.Moment, RemoteStoreError, spared: Int)
    /// The daemon dies at the store call after so many.
    case dieAtCall(Int, FaultyStore.Moment)
    /// Another change precedes the store's answer to the call after so many.
    case localDuringCall(Int, FaultyStore.Moment, LocalStep)
    case remoteDuringCall(Int, FaultyStore.Moment, RemoteStep)
    case crash
    /// The store's changes are noted, and the daemon dies when they are in the tree and not yet recorded.
    case crashAfterApplying
    case restart
    /// A copy of the database is put away.
    case copyDatabase
    /// The copy takes the database's place after an orderly stop.
    case oldDatabase
    case evict(Int)
    /// A part of a file is read, in thirds of it; 0 for all.
    case fetch(Int, third: Int)
    case list(Int)
    case expireAnchors
    case batchSize(Int)
    /// The next batches come in another order, and some twice.
    case shuffleBatches(UInt64)
    /// The user approves held deletions, or restores the deleted items in the store.
    case approve
    case giveAgain
    case pin(Int)
    case unpin(Int)
    /// What is pinned is brought.
    case keep
}

/// What a program does in the mount.
enum LocalStep: Sendable, Hashable {
    case create(folder: Int, name: Int, content: Content)
    case overwrite(Int, Content)
    case append(Int, Content)
    case truncate(Int, thirds: Int)
    /// Written beside and renamed over.
    case save(Int, Content)
    case rename(Int, folder: Int, name: Int, mayReplace: Bool)
    case exchange(Int, Int)
    case remove(Int)
    case removeAll(Int)
    case makeFolder(folder: Int, name: Int)
    case makeSymlink(folder: Int, name: Int, Content)
    case link(Int, folder: Int, name: Int)
    case changeMode(Int, UInt16)
    case changeTime(Int, seconds: Int)
    case setXattr(Int, Content)
    case removeXattr(Int)
    case tag(Int, Content)
    /// A file is opened and written, and stays open.
    case hold(Int, Content)
    case releaseAll
}

/// What another client of the store does.
enum RemoteStep: Sendable, Hashable {
    case create(folder: Int, name: Int, Content)
    case overwrite(Int, Content)
    case makeFolder(folder: Int, name: Int)
    case makeSymlink(folder: Int, name: Int, Content)
    case move(Int, folder: Int, name: Int)
    case delete(Int)
    case changeMode(Int, UInt16)
    case setXattr(Int, Content)
    /// All go but one of six.
    case deleteMost(Int)
}

/// Bytes that occur nowhere else.
struct Content: Sendable, Hashable {
    var serial: Int
    var isLarge = false

    var bytes: [UInt8] {
        let line = Array("content \(serial); ".utf8)
        return isLarge ? Array(repeatElement(line, count: 280_000 / line.count).joined()) : line
    }
}

/// The names there are.
enum Names {
    static let all = ["a", "b", "c", "d.txt", "e.tar", "f"].map { FileName($0) }

    static subscript(_ number: Int) -> FileName { all[number % all.count] }
}
