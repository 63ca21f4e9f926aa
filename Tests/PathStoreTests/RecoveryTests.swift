import Foundation
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

/// Unanswered calls: the connection was cut before or after the execution, and the calling process may have died.
@Suite struct RecoveryTests {
    /// When the connection is cut, and whether another process continues.
    struct Cut: Sendable, CustomStringConvertible {
        var isDone: Bool
        var isCrash: Bool
        var keepsMarks: Bool
        var description: String {
            "\(isDone ? "done" : "not done"), \(isCrash ? "crash" : "same process"), marks: \(keepsMarks)"
        }
        static let all = [false, true].flatMap { isDone in
            [false, true].flatMap { isCrash in
                [false, true].map { Cut(isDone: isDone, isCrash: isCrash, keepsMarks: $0) }
            }
        }

        func scratch() throws -> PathScratch {
            var properties = PathStorageProperties()
            properties.keepsMarks = keepsMarks
            return try PathScratch(properties)
        }

        /// Cuts the connection in `body`, and restores it.
        func strike(
            _ method: PathStorageCall.Method, _ scratch: PathScratch, _ store: PathStore,
            _ body: (PathStore) async throws -> Void
        ) async throws -> PathStore {
            scratch.storage.fail(method, afterIt: isDone)
            await expectFailure("serverUnreachable") { try await body(store) }
            (scratch.storage.before, scratch.storage.after) = (nil, nil)
            return isCrash ? try scratch.open() : store
        }
    }

    private static let made: [ItemTemplate] = [
        PathStore.template("made"), PathStore.template("made", .folder),
        PathStore.template("made", .symlink, target: "there"),
    ]

    @Test(arguments: Cut.all, made)
    func aRepeatedCreateMakesOneItem(_ cut: Cut, _ template: ItemTemplate) async throws {
        let scratch = try cut.scratch()
        let method: PathStorageCall.Method = template.kind == .file ? .write : .make
        let store = try await cut.strike(method, scratch, try scratch.open()) { store in
            try await store.make(template, "bytes")
        }
        let found = try await store.itemCreated(from: template)
        #expect((found != nil) == cut.isDone)
        if found == nil { try await store.make(template, "bytes") }
        let listed = try await store.all()
        #expect(listed.count == 1)
        if let found { #expect(listed == [found]) }
        #expect(scratch.storage.names == ["made"])
        #expect(try await store.itemCreated(from: template) == listed.first)
    }

    /// The engine repeats a create with the current content of the file.
    @Test(arguments: Cut.all)
    func aRepeatedCreateWithOtherBytesIsOneFile(_ cut: Cut) async throws {
        let scratch = try cut.scratch()
        let template = PathStore.template("made")
        let store = try await cut.strike(.write, scratch, try scratch.open()) { store in
            try await store.make(template, "bytes")
        }
        let item = try await store.make(template, "newer bytes", options: .mayAlreadyExist)
        #expect(scratch.storage.names == ["made"])
        #expect(scratch.storage.text(at: "made") == "newer bytes")
        #expect(try await store.all() == [item])
    }

    /// A comparison found the result of the lost create before the store was asked for it.
    @Test(arguments: Cut.all.filter(\.isDone))
    func aCreateListedBeforeItsAnswerIsFound(_ cut: Cut) async throws {
        let scratch = try cut.scratch()
        let template = PathStore.template("made")
        let store = try await cut.strike(.write, scratch, try scratch.open()) { store in
            try await store.make(template, "bytes")
        }
        let listed = try await store.all()
        #expect(try await store.itemCreated(from: template) == listed.first)
        #expect(try await store.all() == listed)
    }

    @Test(arguments: [false, true])
    func renamesByOthersAreFoundByTheirMarks(_ isTableLost: Bool) async throws {
        let scratch = try PathScratch()
        let cut = Cut(isDone: true, isCrash: true, keepsMarks: true)
        let template = PathStore.template("made")
        var store = try await cut.strike(.write, scratch, try scratch.open()) { store in
            try await store.make(template, "bytes")
        }
        scratch.storage.move("made", to: "renamed")
        if isTableLost {
            try scratch.loseTable()
            store = try scratch.open()
        }
        #expect(try await store.itemCreated(from: template)?.filename == FileName("renamed"))
        #expect(try await store.all().count == 1)
    }

    /// Another client's file with other bytes is not ours.
    @Test func anotherClientsFileAtThePathIsNotAdopted() async throws {
        let cut = Cut(isDone: false, isCrash: false, keepsMarks: false)
        let scratch = try cut.scratch()
        let template = PathStore.template("made")
        let store = try await cut.strike(.write, scratch, try scratch.open()) { store in
            try await store.make(template, "bytes")
        }
        scratch.storage.put("other", at: "made")
        #expect(try await store.itemCreated(from: template) == nil)
        await expectFailure("filenameCollision") { try await store.make(template, "bytes", options: .mayAlreadyExist) }
        #expect(scratch.storage.text(at: "made") == "other")
    }

    @Test(arguments: Cut.all)
    func aRepeatedWriteIsNotAConflict(_ cut: Cut) async throws {
        let scratch = try cut.scratch()
        let first = try scratch.open()
        let item = try await first.make("file", "old")
        var store = try await cut.strike(.write, scratch, first) { try await $0.write("new", to: item) }
        let again = try await store.write("new", to: item)
        #expect(again.version.content != item.version.content)
        #expect(scratch.storage.text(at: "file") == "new")
        // And again, with other bytes than the lost call.
        store = try await cut.strike(.write, scratch, store) { try await $0.write("newer", to: again) }
        try await store.write("newest", to: again)
        #expect(scratch.storage.text(at: "file") == "newest")
        #expect(scratch.storage.names == ["file"])
    }

    /// The answer of a write was lost, and the next attempt does not arrive: the third still has the base of the first.
    @Test(arguments: [("new", "new"), ("newer", "newer"), ("new", "newer")])
    func aWriteThatFailsTwiceIsNotAConflict(_ second: String, _ third: String) async throws {
        let cut = Cut(isDone: true, isCrash: false, keepsMarks: true)
        let scratch = try cut.scratch()
        let store = try await cut.strike(.write, scratch, try scratch.open()) { store in
            try await store.make("file", "old")
        }
        let item = try #require(try await store.itemCreated(from: PathStore.template("file")))
        _ = try await cut.strike(.write, scratch, store) { try await $0.write("new", to: item) }
        scratch.storage.fail(.write, afterIt: false)
        do { try await store.write(second, to: item) } catch RemoteStoreError.serverUnreachable {
            #expect(second != "new", "what is there was sent again")
        }
        scratch.storage.before = nil
        try await store.write(third, to: item)
        #expect(scratch.storage.text(at: "file") == third)
        #expect(scratch.storage.names == ["file"])
    }

    /// Both writes arrive, and both answers are lost: the third attempt still has the base of the first.
    @Test func twoLostAnswersAreNotAConflict() async throws {
        let cut = Cut(isDone: true, isCrash: false, keepsMarks: true)
        let scratch = try cut.scratch()
        let store = try scratch.open()
        let item = try await store.make("file", "old")
        for text in ["new", "newer"] {
            _ = try await cut.strike(.write, scratch, store) { try await $0.write(text, to: item) }
        }
        try await store.write("newest", to: item)
        #expect(scratch.storage.text(at: "file") == "newest")
    }

    /// The storage is polled before the call is repeated. What was written is compared once, however large it is.
    @Test(arguments: Cut.all.filter(\.isDone))
    func aPollBeforeTheNextAttemptIsNotAConflict(_ cut: Cut) async throws {
        let scratch = try cut.scratch()
        let first = try scratch.open()
        let item = try await first.make("file", "old")
        let anchor = try await first.currentAnchor()
        let store = try await cut.strike(.write, scratch, first) { try await $0.write("new", to: item) }
        scratch.storage.clearCalls()
        _ = try await store.changes(from: anchor)
        try await store.write("new", to: item)
        #expect(scratch.storage.calls.count { $0.method == .read } == 1)
        #expect(scratch.storage.text(at: "file") == "new")
    }

    /// A server whose versions settle late: what was written has another version while it is compared.
    @Test(arguments: Cut.all.filter(\.isDone))
    func aVersionThatChangesDuringTheComparisonIsNotAConflict(_ cut: Cut) async throws {
        let scratch = try cut.scratch()
        let first = try scratch.open()
        let item = try await first.make("file", "old")
        let store = try await cut.strike(.write, scratch, first) { try await $0.write("new", to: item) }
        let isFirst = Locked(true)
        let storage = scratch.storage
        storage.before = { call throws(PathStorageError) in
            let isNow = call.method == .read && isFirst.withLock { $0 }
            guard isNow else { return }
            isFirst.withLock { $0 = false }
            storage.put("new", at: "file")
        }
        try await store.write("new", to: item)
        #expect(!isFirst.withLock { $0 })
        #expect(storage.text(at: "file") == "new")
    }

    @Test(arguments: Cut.all)
    func aRepeatedWriteAfterAWriteByOthersIsAConflict(_ cut: Cut) async throws {
        let scratch = try cut.scratch()
        let first = try scratch.open()
        let item = try await first.make("file", "old")
        let store = try await cut.strike(.write, scratch, first) { try await $0.write("new", to: item) }
        scratch.storage.put("theirs", at: "file")
        await expectFailure("versionConflict") { try await store.write("new", to: item) }
        #expect(scratch.storage.text(at: "file") == "theirs")
    }

    @Test(arguments: Cut.all, [ItemKind.file, .folder])
    func aMoveIsNotADeletion(_ cut: Cut, _ kind: ItemKind) async throws {
        let scratch = try cut.scratch()
        let first = try scratch.open()
        let target = try await first.makeFolder("target")
        let item = try await first.make(PathStore.template("before", kind), "text")
        let inner = kind == .folder ? try await first.make("inner", in: item.identifier) : item
        _ = try await first.all()
        _ = try await first.all(in: target.identifier)
        let anchor = try await first.currentAnchor()
        let store = try await cut.strike(.move, scratch, first) { store in
            try await store.move(item, to: "after", in: target.identifier)
        }
        let told = try await store.changes(from: anchor)
        #expect(told.deleted.isEmpty)
        let now = try await store.item(item.identifier)
        #expect(now.filename == FileName(cut.isDone ? "after" : "before"))
        #expect(now.version.content == item.version.content)
        let moved = try await store.move(item, to: "after", in: target.identifier)
        #expect(moved.parent == target.identifier)
        #expect(try await store.text(inner) == (kind == .folder ? "content" : "text"))
        #expect(scratch.storage.names.count == (kind == .folder ? 3 : 2))
    }

    @Test(arguments: Cut.all)
    func aRepeatedRemovalSucceeds(_ cut: Cut) async throws {
        let scratch = try cut.scratch()
        let first = try scratch.open()
        let item = try await first.make("file")
        _ = try await first.all()
        let anchor = try await first.currentAnchor()
        let store = try await cut.strike(.remove, scratch, first) { store in
            try await store.deleteItem(item.identifier, base: item.version)
        }
        if cut.isDone { #expect(try await store.changes(from: anchor).deleted == [item.identifier]) }
        try await store.deleteItem(item.identifier, base: item.version)
        #expect(scratch.storage.names.isEmpty)
        #expect(try await store.all().isEmpty)
    }

    @Test(arguments: Cut.all)
    func repeatedAttributesAreSet(_ cut: Cut) async throws {
        let scratch = try cut.scratch()
        let first = try scratch.open()
        let item = try await first.make("file")
        var template = ItemTemplate(identifier: item.identifier, parent: .root, filename: item.filename, kind: .file)
        template.metadata.mode = 0o600
        let sent = template
        let store = try await cut.strike(.set, scratch, first) { store in
            _ = try await store.modifyItem(sent, base: item.version, changedFields: .mode, contents: nil)
        }
        let result = try await store.modifyItem(sent, base: item.version, changedFields: .mode, contents: nil)
        #expect(result.item?.metadata.mode == 0o600)
        #expect(!result.shouldFetchContent)
    }

    // MARK: Without the table

    @Test(arguments: [false, true])
    func knownFoldersAreListedAgain(_ isUnreadable: Bool) async throws {
        let scratch = try PathScratch()
        let first = try scratch.open()
        let folder = try await first.makeFolder("folder")
        let file = try await first.make("file", in: folder.identifier)
        let anchor = try await first.currentAnchor()
        try first.close()
        try scratch.loseTable()
        if isUnreadable {
            try Data("no table at all, but long enough".utf8).write(to: URL(filePath: scratch.folder + "/store.db"))
        }
        let store = try scratch.open()
        await expectFailure("syncAnchorExpired") { _ = try await store.enumerateChanges(from: anchor) }
        let again = try await store.child("folder")
        #expect(again.identifier != folder.identifier)
        let inner = try await store.child("file", in: again.identifier)
        #expect(inner.identifier != file.identifier)
        // The bytes need not be fetched again: the storage's versions are exact.
        #expect(inner.version.content == file.version.content)
        try await store.deleteItem(file.identifier, base: file.version)
        #expect(scratch.storage.names == ["folder", "folder/file"])
        #expect(!scratch.storage.calls.contains { $0.method == .remove })
        #expect(
            FileManager.default.fileExists(atPath: scratch.folder + "/store.db.unreadable") == isUnreadable)
    }

    // MARK: Any failure

    /// Like the engine: a create is looked up before it is repeated.
    @Test(arguments: 0..<20, [true, false])
    func noFailureDuplicatesAnItem(_ seed: UInt64, _ keepsMarks: Bool) async throws {
        var properties = PathStorageProperties()
        properties.keepsMarks = keepsMarks
        let scratch = try PathScratch(properties)
        let schedule = FailureSchedule(seed: seed, percent: 12)
        schedule.begin(on: scratch.storage)
        var store = try scratch.open()
        for number in 0..<12 {
            let template = PathStore.template("\(number)")
            var item: Item?
            var attempts = 0
            while item == nil {
                attempts += 1
                try #require(attempts < 200)
                do {
                    if attempts > 1 { item = try await store.itemCreated(from: template) }
                    if item == nil { item = try await store.make(template, "text \(number)") }
                } catch RemoteStoreError.serverUnreachable {
                    if attempts % 3 == 0 { store = try scratch.open() }
                }
            }
        }
        schedule.end()
        #expect(scratch.storage.names == (0..<12).map { "\($0)" }.sorted())
        #expect(try await store.all().count == 12)
        for number in 0..<12 { #expect(scratch.storage.text(at: "\(number)") == "text \(number)") }
    }
}
