import ReplicaModel

/// A store's knowledge after it is reopened: a daemon is restarted at each login, and after each crash.
extension StorePromises {
    static let reopening: [StorePromise] = [
        StorePromise("after reopening, items, versions and bytes are the same") { subject in
            let folder = try await subject.folder("folder")
            let file = try await subject.file("file", "content", in: folder.identifier)
            let old = try await subject.file("edited", "old")
            let edited = try subject.made(await subject.modify(old, .contents, Array("new".utf8)))
            let again = try await subject.reopened()
            for item in [folder, file, edited] {
                let now = try await again.refreshed(item)
                // A folder's date may change with its contents.
                let isSame =
                    now.version == item.version && now.filename == item.filename && now.parent == item.parent
                try subject.expect(isSame, "\(item.filename) was \(item) and is \(now)")
            }
            try subject.expect(try await again.names() == ["edited", "folder"], "the root lists something else")
            try subject.expect(try await again.names(folder.identifier) == ["file"], "the folder lists something else")
            try await again.expectContent(edited, "edited", Array("new".utf8))
        },
        StorePromise("after reopening, deleted items stay deleted") { subject in
            let file = try await subject.file("file")
            try await subject.store.deleteItem(file.identifier, base: file.version)
            let again = try await subject.reopened()
            try subject.expect(try await again.list().isEmpty, "it is listed again")
            let error = try await again.failure("asking for it") { _ = try await again.refreshed(file) }
            try subject.expect(error == .noSuchItem(file.identifier), "asking for it was \(error)")
        },
        StorePromise("after reopening, created items are found by their templates", when: \.recognizesCreates) {
            subject in
            let template = subject.template("file")
            let item = try subject.made(await subject.create(template, [1, 2]))
            let found = try await subject.reopened().store.itemCreated(from: template)
            try subject.expect(found == item, "it found \(String(describing: found))")
        },
        StorePromise("after reopening, an edit on an earlier base is accepted") { subject in
            let file = try await subject.file("file", "before")
            let again = try await subject.reopened()
            let edited = try again.made(await again.modify(file, .contents, Array("after".utf8)))
            try subject.expect(edited.identifier == file.identifier, "it is another item now")
            try await again.expectContent(edited, "file", Array("after".utf8))
        },
        StorePromise(
            "after reopening, changes made while it was closed are reported, or the anchor has expired",
            when: \.hasChangeFeed
        ) {
            subject in
            _ = try await subject.list()
            let anchor = try await subject.store.currentAnchor()
            try await subject.other.write([1, 2, 3], to: "meanwhile")
            let again = try await subject.reopened()
            try await again.wait(for: "the file is told") {
                do {
                    let batch = try await again.store.enumerateChanges(from: anchor)
                    return batch.updated.contains { $0.filename == FileName("meanwhile") }
                } catch RemoteStoreError.syncAnchorExpired {
                    return true
                }
            }
        },
    ]
}
