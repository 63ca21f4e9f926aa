import ReplicaModel
import Threads

extension StorePromises {
    static let changes: [StorePromise] = [
        feed("nothing happened after the present anchor") { subject in
            _ = try await subject.list()
            let anchor = try await subject.store.currentAnchor()
            let batch = try await subject.store.enumerateChanges(from: anchor)
            try subject.expect(batch.updated.isEmpty && batch.deleted.isEmpty, "the feed tells of changes")
            try subject.expect(!batch.moreComing, "more is coming")
        },
        feed("another client's new file is reported") { subject in
            var mirror = try await StoreMirror(subject)
            try await subject.other.write([1, 2, 3], to: "file")
            try await mirror.update(until: "a file was made") { $0.item("file")?.size == 3 }
            guard let told = mirror.item("file") else { return }
            try subject.expect(try await subject.refreshed(told) == told, "the item is not as told")
        },
        feed("another client's write is reported with a new version") { subject in
            let old = try await subject.file("file", "old!")
            var mirror = try await StoreMirror(subject)
            try await subject.other.write(Array("new!".utf8), to: "file")
            try await mirror.update(until: "the file changed") {
                $0.item("file").map { $0.version.content != old.version.content } ?? false
            }
        },
        feed("another client's deletion is reported") { subject in
            let file = try await subject.file("file")
            let folder = try await subject.folder("folder")
            var mirror = try await StoreMirror(subject)
            try await subject.other.delete("file")
            try await subject.other.delete("folder")
            try await mirror.update(until: "both are gone") {
                $0.items[file.identifier] == nil && $0.items[folder.identifier] == nil
            }
        },
        feed("another client's rename is a rename, not a delete", when: \.keepsIdentifiers) { subject in
            let file = try await subject.file("before")
            var mirror = try await StoreMirror(subject)
            try await subject.other.move("before", to: "after")
            try await mirror.update(until: "the file has a new name") {
                $0.items[file.identifier]?.filename == FileName("after")
            }
            try subject.expect(!mirror.deleted.contains(file.identifier), "it was told as deleted")
            try subject.expect(mirror.item("before") == nil, "the old name is still told")
        },
        feed(
            "another client's rename is reported, possibly as a new item",
            when: StorePromise.lacking(\.keepsIdentifiers)
        ) { subject in
            let file = try await subject.file("before", "text")
            var mirror = try await StoreMirror(subject)
            try await subject.other.move("before", to: "after")
            try await mirror.update(until: "the file has a new name") {
                let after = $0.item("after")
                let isSettled = $0.items[file.identifier] == nil || after?.identifier == file.identifier
                return $0.item("before") == nil && isSettled && after?.size == 4
            }
        },
        feed("another client's move between listed folders is a move, not a delete", when: \.keepsIdentifiers) {
            subject in
            let from = try await subject.folder("from")
            let to = try await subject.folder("to")
            let file = try await subject.file("file", in: from.identifier)
            var mirror = try await StoreMirror(subject, listing: [from.identifier, to.identifier])
            try await subject.other.move("from/file", to: "to/file")
            try await mirror.update(until: "the file has a new parent") {
                $0.items[file.identifier]?.parent == to.identifier
            }
            try subject.expect(!mirror.deleted.contains(file.identifier), "it was told as deleted")
        },
        feed("another client's move into a folder that is listed next is reported") { subject in
            try await subject.other.makeFolder("folder")
            let file = try await subject.file("file")
            var mirror = try await StoreMirror(subject)
            try await subject.other.move("file", to: "folder/file")
            guard let folder = mirror.item("folder") else { throw BrokenPromise("no folder is listed") }
            let listed = try await subject.list(folder.identifier)
            try subject.expect(listed.map(\.filename) == [FileName("file")], "the file is not listed")
            try await mirror.update(until: "the file is no longer where it was") { mirror in
                let told = mirror.items[file.identifier]
                return listed.first?.identifier == file.identifier ? told?.parent == folder.identifier : told == nil
            }
        },
        feed("reports of own changes match the answers") { subject in
            var mirror = try await StoreMirror(subject)
            let one = try await subject.file("one", "1")
            let two = try subject.made(await subject.modify(one, .contents, Array("2".utf8)))
            let folder = try await subject.folder("folder")
            let last = try subject.made(
                await subject.modify(two, .place) {
                    $0.parent = folder.identifier
                    $0.filename = FileName("last")
                })
            try await subject.other.makeFolder("marker")
            try await mirror.update(until: "the marker is there") { $0.item("marker") != nil }
            if let told = mirror.items[last.identifier] {
                try subject.expect(told == last, "\(told) was answered as \(last)")
            }
            try subject.expect(!mirror.deleted.contains(last.identifier), "it was told as deleted")
        },
        feed("many changes are all reported, across batches") { subject in
            var mirror = try await StoreMirror(subject)
            for number in 0..<40 { try await subject.other.write([1], to: "file \(number)") }
            for number in 0..<20 { try await subject.other.delete("file \(number)") }
            let wanted = Set((20..<40).map { FileName("file \($0)") })
            try await mirror.update(until: "twenty files are left") { mirror in
                Set(mirror.items.values.map(\.filename)) == wanted
            }
        },
        feed("a change after the anchor and before the listing is not missed") { subject in
            _ = try await subject.list()
            let anchor = try await subject.store.currentAnchor()
            try await subject.other.write([1], to: "between")
            let isListed = try await subject.names() == ["between"]
            let batch = try await subject.store.enumerateChanges(from: anchor)
            let isTold = batch.updated.contains { $0.filename == FileName("between") }
            try subject.expect(isListed || isTold, "neither the listing nor the feed has it")
        },
        feed("an unknown anchor is syncAnchorExpired") { subject in
            for text in ["", "nonsense", "999999.999999", "-1.-1"] {
                let error = try await subject.failure("the anchor \(text)") {
                    _ = try await subject.store.enumerateChanges(from: SyncAnchor(text))
                }
                try subject.expect(error == .syncAnchorExpired, "it was \(error)")
            }
        },
        feed("a signal follows another client's change") { subject in
            _ = try await subject.list()
            let signals = subject.store.signals()
            let isSignalled = Locked(false)
            let listener = Task {
                for await _ in signals {
                    isSignalled.withLock { $0 = true }
                    return
                }
            }
            defer { listener.cancel() }
            try await subject.other.write([1], to: "file")
            try await subject.wait(for: "a signal") { isSignalled.withLock { $0 } }
        },
        StorePromise("a store without a feed expires every anchor", when: StorePromise.lacking(\.hasChangeFeed)) {
            subject in
            let anchor = try await subject.store.currentAnchor()
            let error = try await subject.failure("asking for changes") {
                _ = try await subject.store.enumerateChanges(from: anchor)
            }
            try subject.expect(error == .syncAnchorExpired, "it was \(error)")
        },
    ]

    private static func feed(
        _ name: String, when applies: @escaping @Sendable (StoreProperties) -> Bool = { _ in true },
        _ body: @escaping @Sendable (StoreSubject) async throws -> Void
    ) -> StorePromise {
        StorePromise(name, when: { $0.hasChangeFeed && applies($0) }, body)
    }
}
