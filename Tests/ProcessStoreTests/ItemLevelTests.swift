import Foundation
import Glibc
import Logging
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ProcessStore

/// The level `item` transports everything that a store promises, in both directions.
@Suite struct ItemLevelTests {
    private struct Ground {
        private let home: TemporaryFolder
        var folder: FilePath { home.path }
        let count = Locked(0)
        let opened = Locked<[OpenedStore]>([])

        init() throws {
            home = try TemporaryFolder()
            try home.makeFolder("base")
        }

        /// Another process on the same items.
        func open() async throws -> any RemoteStore {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let own = folder.appending("\(number)")
            guard mkdir(own.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
            let program = StoreProgram(path: FilePath(#filePath).removingLastComponent().appending("item-store"))
            let opened = try await OpenedStore.open(
                program, url: "item://\(folder)/base", folder: own, log: Logger(label: "item"))
            self.opened.withLock { $0.append(opened) }
            guard case .item(let store) = opened else { throw BrokenPromise("another level") }
            return store
        }

        func end() async throws {
            for store in opened.withLock({ $0 }) { await store.close() }
        }
    }

    @Test func keepsEveryPromise() async throws {
        for promise in StorePromises.all {
            let ground = try Ground()
            do {
                let other = SecondStore(try await ground.open())
                try await promise.check(try await StoreSubject(other: other) { try await ground.open() })
            } catch {
                Issue.record("\(promise): \(error)")
            }
            try await ground.end()
        }
    }

    @Test func theSpaceIsReported() async throws {
        let ground = try Ground()
        let store = try await ground.open()
        #expect(try await store.usage() == StoreUsage(total: 1000, used: 400))
        try await ground.end()
    }

    @Test func namesOfAnyBytesAreTransported() async throws {
        let ground = try Ground()
        let store = try await ground.open()
        let name = FileName(bytes: [0x66, 0xFF, 0x0A])
        let template = ItemTemplate(
            identifier: ItemIdentifier("template"), parent: .root, filename: name, kind: .symlink,
            target: [0xFE, 0x2F])
        let item = try await store.createItem(basedOn: template, fields: .place, contents: nil, options: []).item
        #expect(item?.filename == name && item?.target == [0xFE, 0x2F])
        #expect(try await store.enumerateItems(in: .root, from: nil).items == [item].compactMap(\.self))
        try await ground.end()
    }
}
