import Foundation
import Glibc
import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// A server whose disk is not mounted answers that the folder is there and empty.
@Suite struct LostRootTests {
    private static func run(
        _ kind: SharedPlace.Kind, _ body: (Machine, SharedPlace, [String: String]) async throws -> Void
    ) async throws {
        let place = try await SharedPlace(kind)
        let machine = try Machine(0, of: place, log: OperationLog(), seed: 1, skew: 0, asksAboutRoot: true)
        try await machine.start()
        try await machine.listAll()
        for name in ["one", "two", "three"] { _ = try machine.makeFile(name) }
        for _ in 0..<6 { try await machine.exchange() }
        let tree = try await machine.tree()
        let isQuiet = try machine.isQuiet
        try #require(tree.count == 3 && isQuiet)
        try await body(machine, place, tree)
        try await machine.stop(inOrder: true)
    }

    @Test(arguments: [SharedPlace.Kind.sftp, .webdav]) func nothingIsDeletedFromOrSentToAnEmptyRoot(
        _ kind: SharedPlace.Kind
    )
        async throws
    {
        try await Self.run(kind) { machine, place, tree in
            let (disk, mounted) = (try place.disk, try place.disk + ".mounted")
            try #require(rename(disk, mounted) == 0 && mkdir(disk, 0o755) == 0)
            let made = try machine.makeFile("made")
            for _ in 0..<4 { try await machine.exchange() }
            let said = try machine.report()
            #expect(said.state == .offline && said.reason?.contains("replica approve") == true, "\(said)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == [])
            // Also after a crash.
            try await machine.stop(inOrder: false)
            try await machine.start()
            for _ in 0..<4 { try await machine.exchange() }
            #expect(try machine.report().reason?.contains("replica approve") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == [])
            // The disk is mounted.
            try #require(rmdir(disk) == 0 && rename(mounted, disk) == 0)
            for _ in 0..<6 { try await machine.exchange() }
            #expect(try machine.report().state == .idle, "\(machine.unrest)")
            #expect(try await machine.tree() == tree.merging(["made": made]) { $1 })
            #expect(access(disk + "/made", F_OK) == 0)
        }
    }

    @Test(arguments: [SharedPlace.Kind.sftp, .webdav]) func aUserMayApproveAnEmptyRoot(_ kind: SharedPlace.Kind)
        async throws
    {
        try await Self.run(kind) { machine, place, tree in
            let disk = try place.disk
            for name in try FileManager.default.contentsOfDirectory(atPath: disk) {
                try FileManager.default.removeItem(atPath: disk + "/" + name)
            }
            for _ in 0..<4 { try await machine.exchange() }
            #expect(try await machine.tree() == tree)
            #expect(try machine.approve() == 0)
            for _ in 0..<6 { try await machine.exchange() }
            #expect(try await machine.tree() == [:], "\(machine.unrest)")
            #expect(try machine.report().state == .idle)
        }
    }
}

extension Machine {
    fileprivate func report() throws -> DomainReport { try domain().report() }

    fileprivate func approve() throws -> Int? { try domain().approve() }

    private func domain() throws -> Domain {
        let run = try run()
        return Domain(
            replica: run.replica, engine: run.engine, store: run.opened.store, wakeSignal: WakeSignal(), lock: -1)
    }
}
