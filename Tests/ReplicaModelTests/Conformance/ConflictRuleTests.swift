import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// The table of MODEL.md#conflicts, one test a row.
@Suite struct ConflictRuleTests {
    private func texts(_ bench: Bench) -> [String] {
        bench.store.entries.values.filter { $0.item.kind == .file }
            .map { String(decoding: $0.content, as: UTF8.self) }.sorted()
    }

    @Test func editsOnBothSidesAreKept() async throws {
        let bench = try Bench()
        try bench.write("base", to: "f.txt")
        try await bench.settle()
        bench.store.write("theirs", to: "f.txt")
        try bench.write("ours", to: "f.txt")
        try await bench.settle()
        #expect(bench.store.text(at: "f.txt") == "theirs")
        #expect(texts(bench) == ["ours", "theirs"])
        #expect(try await bench.read("f.txt") == "theirs")
    }

    /// Attributes that were changed here are sent, whatever the store made of the content meanwhile.
    @Test(arguments: [true, false])
    func changedAttributesAreSentDespiteNewContent(_ isPinned: Bool) async throws {
        let bench = try Bench()
        try bench.write("base", to: "f")
        for name in ["user.kept", "user.gone"] { try bench.setXattr(name, "base", of: "f") }
        try await bench.settle()
        if isPinned { try await bench.domain.pin(Bench.names("f")) }
        bench.store.write("theirs", to: "f")
        try bench.setXattr("user.new", "ours", of: "f")
        try bench.replica.setXattr("user.gone", nil, flags: 0, of: try bench.number("f"))
        try bench.setAttributes(of: "f") { $0.mode = 0o600 }
        try await bench.settle()
        #expect(try await bench.read("f") == "theirs")
        let wanted = ["user.kept": "base", "user.new": "ours"]
        let sent = try #require(bench.store.item(at: "f")?.metadata)
        #expect(sent.extendedAttributes?.mapValues { String(decoding: $0, as: UTF8.self) } == wanted)
        #expect(sent.mode == 0o600)
        #expect(try bench.status("f").st_mode & 0o7777 == 0o600)
        #expect(try bench.replica.xattr("user.new", of: try bench.number("f")) == Array("ours".utf8))
    }

    /// The mask of an ACL is no permission of the group, also where the mode that is kept is pending.
    @Test func aNamedUsersEntryIsNotTheGroupsMode() async throws {
        let bench = try Bench()
        try bench.write("base", to: "f")
        try bench.setAttributes(of: "f") { $0.mode = 0o600 }
        try await bench.settle()
        bench.store.write("theirs", to: "f")
        // user::rw, user:1:rw, group::---, mask::rw, other::---
        var list: [UInt8] = [2, 0, 0, 0]
        for (tag, permissions, id) in [(1, 6, 0xFF), (2, 6, 1), (4, 0, 0xFF), (16, 6, 0xFF), (32, 0, 0xFF)] {
            let number: [UInt8] = id == 0xFF ? [0xFF, 0xFF, 0xFF, 0xFF] : [UInt8(id), 0, 0, 0]
            list += [UInt8(tag), 0, UInt8(permissions), 0] + number
        }
        try list.withUnsafeBytes {
            try bench.replica.setXattr("system.posix_acl_access", $0, flags: 0, of: try bench.number("f"))
        }
        try await bench.settle()
        #expect(try await bench.read("f") == "theirs")
        #expect(try bench.status("f").st_mode & 0o070 == 0)
        #expect(try #require(bench.store.item(at: "f")?.metadata.mode) & 0o070 == 0)
    }

    @Test(arguments: ConflictSide.allCases)
    func aUserResolvesAConflict(side: ConflictSide) async throws {
        let bench = try Bench()
        try bench.write("base", to: "f.txt")
        try await bench.settle()
        bench.store.write("theirs", to: "f.txt")
        try bench.write("ours", to: "f.txt")
        try await bench.settle()
        try await bench.domain.resolve(Bench.names("f.txt"), keep: side)
        try await bench.settle()
        #expect(try bench.domain.conflicts().isEmpty)
        switch side {
        case .local: #expect(texts(bench) == ["ours"])
        case .remote: #expect(texts(bench) == ["theirs"])
        case .both: #expect(texts(bench) == ["ours", "theirs"])
        }
    }

    /// The store resolved the conflict itself: the content of its answer replaces ours.
    @Test func aStoreMayAnswerWithItsOwnContent() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        try bench.write("base", to: "x")
        try await bench.settle()
        script.onModify { (call) async throws(RemoteStoreError) in
            let merged = Array("merged".utf8)
            return StoreResult(item: call.memory.write(merged, to: call.template.identifier), shouldFetchContent: true)
        }
        try bench.write("ours", to: "x")
        try await bench.settle()
        #expect(try bench.tree() == ["x": "merged"])
        #expect(texts(bench) == ["merged"])
    }

    @Test func aDeletedItemWithAnEditIsCreatedAgain() async throws {
        let bench = try Bench()
        try bench.write("base", to: "x")
        try await bench.settle()
        bench.store.delete("x")
        try bench.write("ours", to: "x")
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "ours")
        let last = try #require(bench.store.calls(of: .createItem).last)
        #expect(last.options == CreateOptions.deletionConflicted.rawValue)
        #expect(last.hasContents)
    }

    @Test func aDatalessFileIsDeletedAtOnce() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "x")
        try await bench.settle()
        bench.store.delete("x")
        try bench.setAttributes(of: "x") { $0.mode = 0o600 }
        try await bench.settle()
        #expect(try bench.tree().isEmpty)
        #expect(bench.store.entries.isEmpty)
    }

    @Test func aDeletedItemEditedInTheStoreComesBack() async throws {
        let bench = try Bench()
        try bench.write("base", to: "x")
        try await bench.settle()
        bench.store.write("theirs", to: "x")
        try bench.remove("x")
        try await bench.send()
        #expect(bench.store.calls(of: .deleteItem).count == 1)
        try await bench.settle()
        #expect(try await bench.read("x") == "theirs")
    }

    @Test func aRemovedFolderWithANewChildComesBack() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try await bench.settle()
        bench.store.write("theirs", to: "d/x")
        try bench.remove("d", isFolder: true)
        try await bench.settle()
        #expect(try await bench.read("d/x") == "theirs")
    }

    @Test func aDeletionOnBothSidesSucceeds() async throws {
        let bench = try Bench()
        try bench.write("base", to: "x")
        try await bench.settle()
        bench.store.delete("x")
        try bench.remove("x")
        try await bench.send()
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.tree().isEmpty)
        #expect(try bench.domain.report().errors == 0)
    }

    @Test func theSameNameOnBothSidesBounces() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.write("theirs", to: "x.txt")
        try bench.write("ours", to: "x.txt")
        try await bench.settle()
        #expect(bench.store.text(at: "x.txt") == "theirs")
        #expect(bench.store.text(at: "x 2.txt") == "ours")
    }

    @Test func equalFilesOnBothSidesAreMerged() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.write("same", to: "x.txt")
        try bench.write("same", to: "x.txt")
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["x.txt"])
        #expect(try bench.tree() == ["x.txt": "same"])
    }

    /// The store refuses ours before its own is reported here.
    @Test(arguments: ["same", "else", "longer"]) func equalFilesAreMergedIfOursIsSentFirst(theirs: String) async throws
    {
        let bench = try Bench()
        try await bench.settle()
        bench.store.write(theirs, to: "x.txt")
        try bench.write("same", to: "x.txt")
        try await bench.send()
        #expect(bench.store.calls(of: .createItem).count >= 1)
        try await bench.settle()
        let both = ["x.txt": theirs, "x 2.txt": "same"]
        for (name, text) in theirs == "same" ? ["x.txt": "same"] : both {
            #expect(bench.store.text(at: name) == text)
            #expect(try await bench.read(name) == text)
        }
        #expect(bench.store.entries.count == (theirs == "same" ? 1 : 2))
        #expect(bench.replica.withTree { $0.pending.isEmpty })
    }

    @Test func namesThatDifferByCaseBounceWhereTheStoreCannotTellThemApart() async throws {
        let store = MemoryStore()
        store.properties.isCaseSensitive = false
        let bench = try Bench(store: store)
        try bench.write("small", to: "x")
        try await bench.settle()
        try bench.write("large", to: "X")
        try await bench.settle()
        #expect(store.text(at: "x") == "small")
        #expect(store.text(at: "X 2") == "large")
        #expect(try bench.tree() == ["x": "small", "X 2": "large"])
    }

    @Test func foldersOfOneNameAreMerged() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.write("theirs", to: "d/theirs")
        bench.store.write("theirs", to: "d/both")
        try bench.makeFolder("d")
        try bench.write("ours", to: "d/ours")
        try bench.write("ours", to: "d/both")
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/both", "d/both 2", "d/ours", "d/theirs"])
        #expect(try await bench.read("d/theirs") == "theirs")
        #expect(try await bench.read("d/both") == "theirs")
        #expect(try await bench.read("d/both 2") == "ours")
    }

    @Test func foldersMovedIntoEachOtherAreKept() async throws {
        let bench = try Bench()
        try bench.write("0", to: "top")
        try bench.makeFolder("a")
        try bench.makeFolder("b")
        try bench.write("1", to: "a/x")
        try bench.write("2", to: "b/y")
        try await bench.settle()
        bench.store.move("a", to: "b/a")
        try bench.rename("b", to: "a/b")
        try await bench.settle()
        #expect(texts(bench) == ["0", "1", "2"])
        #expect(try bench.tree().count == bench.store.entries.count)
        #expect(bench.store.entries.keys.sorted() == ["b", "b/a", "b/a/x", "b/y", "top"])
    }

    /// The former folder of one of them is gone here, and the root has another item with its name.
    @Test func foldersMovedIntoEachOtherAreKeptWithoutTheirOldParents() async throws {
        let bench = try Bench()
        try bench.makeFolder("p")
        try bench.makeFolder("p/a")
        try bench.makeFolder("b")
        try bench.write("1", to: "p/a/x")
        try bench.write("2", to: "b/y")
        try await bench.settle()
        bench.store.move("b", to: "p/a/b")
        try bench.rename("p/a", to: "b/a")
        try bench.remove("p", isFolder: true)
        try bench.write("other", to: "a")
        try await bench.settle()
        #expect(texts(bench) == ["1", "2", "other"])
        #expect(try bench.tree().count == bench.store.entries.count)
    }

    @Test func aMoveIntoADeletedFolderRecreatesIt() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("one", to: "x")
        try await bench.settle()
        bench.store.delete("d")
        try bench.rename("x", to: "d/x")
        try await bench.send()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/x"])
        #expect(bench.store.text(at: "d/x") == "one")
        #expect(try bench.tree() == ["d/": nil, "d/x": "one"])
    }

    @Test func anEditDuringAnUploadIsSentOnTheNewBase() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        try bench.write("first", to: "x")
        let (replica, number) = (bench.replica, try bench.number("x"))
        let answered = Locked<ItemVersion?>(nil)
        script.onCreate { (call) async throws(RemoteStoreError) in
            let result = try await call.execute()
            replica.overwrite(number, with: "second")
            answered.withLock { $0 = result.item?.version }
            return result
        }
        try await bench.settle()
        let modify = try #require(bench.store.calls(of: .modifyItem).first)
        #expect(modify.base == answered.withLock { $0 })
        #expect(bench.store.calls(of: .modifyItem).count == 1)
        #expect(bench.store.text(at: "x") == "second")
        #expect(texts(bench) == ["second"])
    }

    @Test func anEditDuringACreateWithADifferentAnswerIsKept() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        try bench.write("first", to: "x")
        let (replica, number) = (bench.replica, try bench.number("x"))
        script.onCreate { (call) async throws(RemoteStoreError) in
            replica.overwrite(number, with: "second")
            var call = call
            call.template.filename = FileName("y")
            let made = try await call.execute()
            let item = call.memory.write(Array("the store's".utf8), to: made.item?.identifier ?? .root)
            return StoreResult(item: item, shouldFetchContent: true)
        }
        try await bench.settle()
        // Both contents exist: the store's own, and our newer edit as a copy or on top of it.
        #expect(texts(bench).contains("second"))
        #expect(try bench.tree().values.contains("second"))
        #expect(try bench.tree().count == bench.store.entries.count)
        #expect(bench.store.everHeld(Array("the store's".utf8)))
    }

    @Test func stillPendingFieldsAreSentAgain() async throws {
        let script = ScriptedStore()
        script.onCreate { (call) async throws(RemoteStoreError) in
            var call = call
            call.fields.remove(.tags)
            var result = try await call.execute()
            result.stillPending = .tags
            return result
        }
        let bench = try Bench(script)
        try bench.write("one", to: "x")
        try bench.setXattr("user.xdg.tags", "red", of: "x")
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.tags])
        #expect(bench.store.item(at: "x")?.metadata.tags == "red")
    }

    @Test func aFieldThatTheStoreCannotKeepStaysLocal() async throws {
        let store = MemoryStore()
        store.properties.fields = [.contents, .place, .modificationDate]
        let bench = try Bench(store: store)
        try bench.write("one", to: "x")
        try bench.setXattr("user.xdg.tags", "red", of: "x")
        try await bench.settle()
        // Asked once; the identical answer ends it.
        #expect(store.calls(of: .modifyItem).count <= 1)
        store.clearCalls()
        try await bench.settle()
        #expect(store.calls(of: .modifyItem).isEmpty)
        let value = try bench.replica.xattr("user.xdg.tags", of: try bench.number("x"))
        #expect(String(decoding: value, as: UTF8.self) == "red")
    }

    @Test func aStoreMayChangeTheContentItWasSent() async throws {
        let script = ScriptedStore()
        script.onCreate { (call) async throws(RemoteStoreError) in
            let made = try await call.execute()
            let bytes = Array("normalized".utf8)
            let item = call.memory.write(bytes, to: made.item?.identifier ?? .root)
            return StoreResult(item: item, shouldFetchContent: true)
        }
        let bench = try Bench(script)
        try bench.write("raw", to: "x")
        try await bench.settle()
        #expect(try bench.tree() == ["x": "normalized"])
        #expect(bench.store.calls(of: .fetchContents).count == 1)
        #expect(texts(bench) == ["normalized"])
    }
}
