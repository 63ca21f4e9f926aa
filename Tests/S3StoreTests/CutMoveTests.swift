import Foundation
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import S3Store

/// Moves are copies and removals: the network fails at each request of a move in turn, before it or with its answer,
/// and then the user makes another change. At the end the item is at one place.
@Suite struct CutMoveTests {
    enum Wish: CaseIterable { case again, elsewhere, nowhere }

    struct Cut: Sendable, CustomStringConvertible {
        var isFolder: Bool
        var isDone: Bool
        /// Whether another process continues.
        var isCrash: Bool
        var wish: Wish
        var description: String {
            "\(isFolder ? "folder" : "file"), \(isDone ? "done" : "not done"), \(isCrash ? "crash" : "same process"), \(wish)"
        }
        static let all = [false, true].flatMap { isFolder in
            [false, true].flatMap { isDone in
                Wish.allCases.filter { !isFolder || $0 != .nowhere }.map {
                    Cut(isFolder: isFolder, isDone: isDone, isCrash: ($0 == .again) == isDone, wish: $0)
                }
            }
        }
    }

    @Test(arguments: Cut.all) func anInterruptedMoveLeavesTheItemAtOnePath(_ cut: Cut) async throws {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        // In `scripts/test` some of them.
        let environment = ProcessInfo.processInfo.environment
        let seed = Int(environment["REPLICA_FAULT_SEED"] ?? "") ?? 1
        let stride = environment["REPLICA_FAULT_ALL"] == nil ? 3 : 1
        var (number, wasFaulted) = (seed % stride - stride + 1, true)
        while wasFaulted {
            number += stride
            let last = number
            let session = try S3FaultedSession(server, bucket, attempts: 1) { (count, _) in
                count > last || count == last && !cut.isDone ? .lostRequest : count == last ? .lostAnswer : nil
            }
            do { try await Self.play(cut, session) } catch { Issue.record("\(error), after \(session.faulted)") }
            wasFaulted = !session.faulted.isEmpty
        }
        #expect(number > 3)
    }

    private static func play(_ cut: Cut, _ session: S3FaultedSession) async throws {
        var made: Item?
        try await session.run { store in
            let retrying = RetryingStore(store)
            let item = try await retrying.create(
                "a", cut.isFolder ? .folder : .file, in: .root, cut.isFolder ? nil : Array("a".utf8))
            if cut.isFolder {
                let inner = try await retrying.create("inner", .folder, in: item.identifier, nil)
                _ = try await retrying.create("x", .file, in: item.identifier, Array("x".utf8))
                _ = try await retrying.create("y", .file, in: inner.identifier, Array("y".utf8))
            }
            made = item
            let template = ItemTemplate(
                identifier: item.identifier, parent: .root, filename: FileName("b"), kind: item.kind)
            do {
                _ = try await session.armed {
                    try await store.modifyItem(template, base: item.version, changedFields: .filename, contents: nil)
                }
            } catch RemoteStoreError.serverUnreachable {
                // The intended result.
            }
            if !cut.isCrash { try await goOn(cut, item, store, session) }
        }
        guard cut.isCrash, let item = made else { return }
        try await session.run { try await goOn(cut, item, $0, session) }
    }

    private static func goOn(_ cut: Cut, _ item: Item, _ store: PathStore, _ session: S3FaultedSession) async throws {
        let retrying = RetryingStore(store)
        let name = cut.wish == .again ? "b" : "c"
        if cut.wish == .nowhere {
            try await retrying.delete(item)
        } else {
            let moved = try await retrying.modify(item, .filename) { $0.filename = FileName(name) }
            try #require(moved.identifier == item.identifier)
        }
        let wanted: [String] = cut.wish == .nowhere ? [] : cut.isFolder ? ["\(name)/inner/y", "\(name)/x"] : [name]
        let (found, listed) = (try await session.files().keys.sorted(), try await retrying.list(.root))
        guard found == wanted, listed.map(\.identifier) == (wanted.isEmpty ? [] : [item.identifier]) else {
            throw BrokenPromise("\(cut): others see \(found), and there are \(listed.map(\.filename))")
        }
        // A later change cleans up the server.
        let other = try await retrying.create("other", .file, in: .root, [])
        try await retrying.delete(other)
        let notes = try await session.notes()
        guard notes.isEmpty else { throw BrokenPromise("\(cut): left behind: \(notes)") }
    }
}
