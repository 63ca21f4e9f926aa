import ReplicaModel

extension StorePromises {
    static let deleting: [StorePromise] = [
        StorePromise("a deleted item is gone, for others too") { subject in
            let file = try await subject.file("file")
            try await subject.store.deleteItem(file.identifier, base: file.version)
            try subject.expect(try await subject.list().isEmpty, "it is still listed")
            try subject.expect(try await subject.other.content(at: "file") == nil, "others still see it")
            let error = try await subject.failure("asking for it") { _ = try await subject.refreshed(file) }
            try subject.expect(error == .noSuchItem(file.identifier), "asking for it was \(error)")
        },
        StorePromise("deleting an unknown item is a success") { subject in
            let file = try await subject.file("file")
            for _ in 0..<2 {
                try await subject.store.deleteItem(file.identifier, base: file.version)
            }
            let folder = try await subject.folder("folder")
            try await subject.other.delete("folder")
            try await subject.store.deleteItem(folder.identifier, base: folder.version)
        },
        StorePromise("a file that changed is not deleted") { subject in
            let base = try await subject.file("file", "base")
            let new = try subject.made(await subject.modify(base, .contents, Array("newer".utf8)))
            let error = try await subject.failure("the delete") {
                try await subject.store.deleteItem(new.identifier, base: base.version)
            }
            guard case .deletionRejected(let present) = error else { throw BrokenPromise("it was \(error)") }
            try subject.expect(present == nil || present == new, "it carries another item")
            try await subject.expectContent(new, "file", Array("newer".utf8))
        },
        StorePromise("a file that another client changed is not deleted") { subject in
            let base = try await subject.file("file", "base")
            try await subject.other.write(Array("them".utf8), to: "file")
            do {
                try await subject.store.deleteItem(base.identifier, base: base.version)
            } catch RemoteStoreError.deletionRejected {}
            let left = try await subject.other.content(at: "file")
            try subject.expect(left == Array("them".utf8), "their bytes are lost")
        },
        StorePromise("a folder with children is directoryNotEmpty") { subject in
            let folder = try await subject.folder("folder")
            _ = try await subject.file("file", in: folder.identifier)
            let error = try await subject.failure("the delete") {
                try await subject.store.deleteItem(folder.identifier, base: folder.version)
            }
            try subject.expect(error == .directoryNotEmpty(folder.identifier), "it was \(error)")
            try subject.expect(try await subject.names(folder.identifier) == ["file"], "its content changed")
        },
        StorePromise("an empty folder is deleted") { subject in
            let folder = try await subject.folder("folder")
            try await subject.store.deleteItem(folder.identifier, base: folder.version)
            try subject.expect(try await subject.list().isEmpty, "it is still there")
        },
        StorePromise("the root is never deleted") { subject in
            _ = try await subject.file("file")
            let root = try await subject.store.item(.root)
            _ = try await subject.failure("the delete") {
                try await subject.store.deleteItem(.root, base: root.version)
            }
            try subject.expect(try await subject.names() == ["file"], "its content is gone")
        },
    ]
}
