import ReplicaModel

extension StorePromises {
    static let listing: [StorePromise] = [
        StorePromise("the root is a folder") { subject in
            let root = try await subject.store.item(.root)
            try subject.expect(root.identifier == .root && root.kind == .folder, "the root is \(root)")
        },
        StorePromise("an empty folder lists nothing") { subject in
            try subject.expect(try await subject.list().isEmpty, "a new store is not empty")
            let folder = try await subject.folder("empty")
            try subject.expect(try await subject.list(folder.identifier).isEmpty, "a new folder is not empty")
        },
        StorePromise("a listing has every item once, over all its pages") { subject in
            let wanted = (0..<60).map { "item \($0)" }.sorted()
            for name in wanted { _ = try await subject.file(name) }
            try subject.expect(try await subject.names() == wanted, "the listing is not what was made")
        },
        StorePromise("a listing has what other clients made") { subject in
            try await subject.other.makeFolder("theirs")
            try await subject.other.write([1, 2, 3], to: "theirs/file")
            let folder = try await subject.list().first
            try subject.expect(folder?.filename == FileName("theirs"), "their folder is not listed")
            let inner = try await subject.list(folder?.identifier ?? .root)
            try subject.expect(inner.map(\.filename) == [FileName("file")], "their file is not listed")
            try subject.expect(inner.first?.size == 3, "their file has another size")
        },
        StorePromise("a listing has the direct children, with their parent") { subject in
            let folder = try await subject.folder("outer")
            let inner = try await subject.folder("inner", in: folder.identifier)
            _ = try await subject.file("deep", in: inner.identifier)
            let items = try await subject.list(folder.identifier)
            try subject.expect(items.map(\.identifier) == [inner.identifier], "not the direct children")
            try subject.expect(items.first?.parent == folder.identifier, "the child names another parent")
        },
        StorePromise("item and listing agree") { subject in
            let file = try await subject.file("file")
            let folder = try await subject.folder("folder")
            for listed in try await subject.list() {
                let asked = try await subject.store.item(listed.identifier)
                try subject.expect(asked == listed, "\(asked) is listed as \(listed)")
            }
            try subject.expect(try await subject.refreshed(file) == file, "the file is not as create answered")
            try subject.expect(try await subject.refreshed(folder) == folder, "the folder is not as create answered")
        },
        StorePromise("listing a deleted folder is noSuchItem, not an empty listing") { subject in
            let folder = try await subject.folder("folder")
            try await subject.other.delete("folder")
            let error = try await subject.failure("the listing") { _ = try await subject.list(folder.identifier) }
            try subject.expect(error == .noSuchItem(folder.identifier), "it failed with \(error)")
        },
        StorePromise("asking for a deleted item is noSuchItem") { subject in
            let file = try await subject.file("file")
            try await subject.other.delete("file")
            let error = try await subject.failure("the question") { _ = try await subject.refreshed(file) }
            try subject.expect(error == .noSuchItem(file.identifier), "it failed with \(error)")
        },
        StorePromise("identifiers and versions keep their lengths") { subject in
            let parent = try await subject.folder(String(repeating: "f", count: 100))
            let item = try await subject.file(String(repeating: "n", count: 100), in: parent.identifier)
            try subject.expect((1...1_024).contains(item.identifier.rawValue.utf8.count), "the identifier's length")
            try subject.expect((1...128).contains(item.version.content.utf8.count), "the content version's length")
            try subject.expect((1...128).contains(item.version.metadata.utf8.count), "the metadata version's length")
            try subject.expect(parent.version.content.isEmpty, "a folder has a content version")
        },
        StorePromise("the trash is listed, or unsupported") { subject in
            if subject.store.properties.keepsTrash {
                try subject.expect(try await subject.list(.trash).isEmpty, "a new store has something in its trash")
            } else {
                let error = try await subject.failure("listing the trash") { _ = try await subject.list(.trash) }
                try subject.expect(error.code == "unsupported", "it failed with \(error)")
            }
        },
    ]
}
