import ReplicaModel
import Threads

@testable import ReplicaTestSupport

/// The store's side of a world, past the daemon: what another client does there, and what a judge looks at.
protocol Remote: AnyObject, Sendable {
    /// The store that a daemon which starts now calls.
    func connect() throws -> any RemoteStore
    /// All that is there, by path.
    var entries: [String: MemoryStore.Entry] { get }
    /// Every present content.
    var contents: [[UInt8]] { get }
    func holds(path: String) -> Bool
    /// The items that a person can be refused, always in the same order.
    var identifiers: [ItemIdentifier] { get }
    func present(_ identifier: ItemIdentifier) -> Item?
    func content(of identifier: ItemIdentifier) -> [UInt8]?
    /// The content of an item; nil when it is of another version than this by now.
    func content(of identifier: ItemIdentifier, stillAt version: String) -> [UInt8]?
    /// How many folders were listed so far.
    var listings: Int { get }
    func setBatchSize(_ size: Int)
    func expireAnchors()

    func put(_ content: [UInt8], dated date: Timestamp, at path: String)
    func makeFolder(at path: String)
    func makeSymlink(at path: String, to target: String)
    /// - Returns: Whether it moved: what nobody could notice does not.
    func relocate(_ path: String, to target: String) -> Bool
    func delete(at path: String)
    func setMode(_ mode: UInt16, of path: String)
    func setNote(_ note: [UInt8], of path: String)
}

extension Remote {
    func holds(_ identifier: ItemIdentifier) -> Bool { present(identifier) != nil }
}

extension MemoryStore: Remote {
    func connect() -> any RemoteStore { self }

    var identifiers: [ItemIdentifier] { entries.values.map(\.item.identifier).sorted { $0.rawValue < $1.rawValue } }

    func present(_ identifier: ItemIdentifier) -> Item? { tree.withLock { $0.nodes[identifier]?.item } }

    func content(of identifier: ItemIdentifier, stillAt version: String) -> [UInt8]? {
        guard let content = content(of: identifier), tree.withLock({ $0.contentVersions[version] }) == content else {
            return nil
        }
        return content
    }

    var contents: [[UInt8]] {
        tree.withLock { tree in tree.nodes.values.filter { $0.item.kind == .file }.map(\.content) }
    }

    func holds(path: String) -> Bool { item(at: path) != nil }

    var listings: Int { calls(of: .enumerateItems).count }

    func setBatchSize(_ size: Int) { batchSize = size }

    func put(_ content: [UInt8], dated date: Timestamp, at path: String) {
        write(content, to: path)
        update(path) { $0.modificationDate = date }
    }

    func makeFolder(at path: String) { makeFolder(path) }

    func makeSymlink(at path: String, to target: String) { makeSymlink(path, to: target) }

    func relocate(_ path: String, to target: String) -> Bool {
        move(path, to: target)
        return true
    }

    func delete(at path: String) { delete(path) }

    func setMode(_ mode: UInt16, of path: String) { update(path) { $0.mode = mode } }

    func setNote(_ note: [UInt8], of path: String) { update(path) { $0.extendedAttributes = ["user.note": note] } }
}
