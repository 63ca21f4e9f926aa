import ReplicaModel

extension StorePromises {
    static let moving: [StorePromise] = [
        StorePromise("a rename keeps the item and its content") { subject in
            let old = try await subject.file("before")
            let new = try subject.made(
                await subject.modify(old, .filename) { $0.filename = FileName("after") })
            try subject.expect(new.identifier == old.identifier, "the identifier changed")
            try subject.expect(new.version.content == old.version.content, "the content version changed")
            try subject.expect(new.version.metadata != old.version.metadata, "the metadata version is the old one")
            try subject.expect(try await subject.names() == ["after"], "the listing has other names")
            try await subject.expectContent(new, "after", Array("content".utf8))
        },
        StorePromise("a move to another folder keeps the item") { subject in
            let old = try await subject.file("file")
            let folder = try await subject.folder("folder")
            let new = try subject.made(
                await subject.modify(old, .place) {
                    $0.parent = folder.identifier
                    $0.filename = FileName("moved")
                })
            try subject.expect(new.identifier == old.identifier, "the identifier changed")
            try subject.expect(new.parent == folder.identifier, "the parent is another")
            try subject.expect(try await subject.names() == ["folder"], "it is still in its old place")
            try await subject.expectContent(new, "folder/moved", Array("content".utf8))
        },
        StorePromise("a folder moves with all that is in it") { subject in
            let folder = try await subject.folder("folder")
            let inner = try await subject.folder("inner", in: folder.identifier)
            let file = try await subject.file("file", in: inner.identifier)
            let target = try await subject.folder("target")
            _ = try await subject.modify(folder, .parent) { $0.parent = target.identifier }
            let found = try await subject.list(inner.identifier).map(\.identifier)
            try subject.expect(found == [file.identifier], "the file below is not what it was")
            try await subject.expectContent(file, "target/folder/inner/file", Array("content".utf8))
        },
        StorePromise("a rename to a taken name is filenameCollision, and both stay") { subject in
            let one = try await subject.file("one", "1")
            let two = try await subject.file("two", "2")
            let error = try await subject.failure("the rename") {
                _ = try await subject.modify(one, .filename) { $0.filename = FileName("two") }
            }
            guard case .filenameCollision(let other) = error else { throw BrokenPromise("it was \(error)") }
            try subject.expect(other == nil || other?.identifier == two.identifier, "it names another item")
            try await subject.expectContent(one, "one", [0x31])
            try await subject.expectContent(two, "two", [0x32])
        },
        StorePromise("a rename to the same name succeeds") { subject in
            let old = try await subject.file("file")
            let new = try subject.made(await subject.modify(old, .place))
            try subject.expect(new.identifier == old.identifier, "the identifier changed")
            try subject.expect(try await subject.names() == ["file"], "the listing changed")
        },
        StorePromise("a move into a deleted folder is noSuchItem naming the folder") { subject in
            let file = try await subject.file("file")
            let folder = try await subject.folder("folder")
            try await subject.other.delete("folder")
            let error = try await subject.failure("the move") {
                _ = try await subject.modify(file, .parent) { $0.parent = folder.identifier }
            }
            try subject.expect(error == .noSuchItem(folder.identifier), "it was \(error)")
            try subject.expect(try await subject.names() == ["file"], "the file is not where it was")
        },
        StorePromise("a folder never moves into itself") { subject in
            let outer = try await subject.folder("outer")
            let inner = try await subject.folder("inner", in: outer.identifier)
            for target in [outer, inner] {
                let error = try await subject.failure("the move") {
                    _ = try await subject.modify(outer, .place) {
                        $0.parent = target.identifier
                        $0.filename = FileName("itself")
                    }
                }
                try subject.expect(error.code == "cannotSynchronize", "it was \(error)")
            }
            try subject.expect(try await subject.names(outer.identifier) == ["inner"], "something moved")
        },
        StorePromise("an item goes to the trash and comes back", when: \.keepsTrash) { subject in
            let file = try await subject.file("file")
            let trashed = try subject.made(await subject.modify(file, .parent) { $0.parent = .trash })
            try subject.expect(trashed.parent == .trash, "its parent is \(trashed.parent)")
            try subject.expect(try await subject.list().isEmpty, "it is still in its folder")
            try subject.expect(try await subject.list(.trash).count == 1, "it is not in the trash")
            _ = try await subject.modify(trashed, .parent) { $0.parent = .root }
            try await subject.expectContent(file, "file", Array("content".utf8))
        },
    ]
}
