import ReplicaModel
import Threads

extension StorePromises {
    static let creating: [StorePromise] = [
        StorePromise("a created file is there with its bytes, for others too") { subject in
            let item = try await subject.file("file", "twelve bytes")
            try subject.expect(item.filename == FileName("file") && item.parent == .root, "the place is not as sent")
            try subject.expect(item.kind == .file && item.size == 12, "kind or size are not as sent")
            try await subject.expectContent(item, "file", Array("twelve bytes".utf8))
        },
        StorePromise("an empty file is a file") { subject in
            let item = try await subject.file("empty", "")
            try subject.expect(item.size == 0, "its size is \(item.size)")
            try await subject.expectContent(item, "empty", [])
        },
        StorePromise("a file of more than a megabyte arrives whole") { subject in
            let content = megabyte
            let item = try subject.made(await subject.create(subject.template("large"), content))
            try await subject.expectContent(item, "large", content)
        },
        StorePromise("progress ends at the content's size") { subject in
            let told = Locked<[Int64]>([])
            let content = [UInt8](repeating: 7, count: 300_000)
            try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
                let listening = ItemContents(file: contents.file, size: contents.size) { count in
                    told.withLock { $0.append(count) }
                }
                _ = try await subject.store.createItem(
                    basedOn: subject.template("file"), fields: [.place, .contents], contents: listening, options: [])
            }
            try subject.expect(told.withLock { $0.max() } == 300_000, "it was \(told.withLock { $0 })")
        },
        StorePromise("a symlink keeps its target, dangling or not", when: \.keepsSymlinks) { subject in
            for target in ["file", "../../outside", "/nowhere at all", "ünïcode"] {
                let template = subject.template("link to \(target.count)", .symlink, target: target)
                let item = try subject.made(await subject.create(template))
                try subject.expect(item.kind == .symlink, "the answer is a \(item.kind)")
                try subject.expect(item.target == Array(target.utf8), "the target is not \(target)")
                try subject.expect(try await subject.refreshed(item) == item, "the symlink is not as answered")
            }
        },
        StorePromise("the store answers an identifier of its own") { subject in
            let template = subject.template("file")
            let item = try subject.made(await subject.create(template, [1]))
            try subject.expect(item.identifier != template.identifier, "it is the template's")
        },
        StorePromise("a taken name is filenameCollision with the other item") { subject in
            let old = try await subject.file("name", "old")
            for kind in [ItemKind.file, .folder] {
                let error = try await subject.failure("a second \(kind)") {
                    _ = try await subject.create(subject.template("name", kind), kind == .file ? [1] : nil)
                }
                guard case .filenameCollision(let other) = error else { throw BrokenPromise("it was \(error)") }
                try subject.expect(other == nil || other == old, "the collision names another item")
            }
            try await subject.expectContent(old, "name", Array("old".utf8))
        },
        StorePromise("a folder of a taken name is filenameCollision") { subject in
            _ = try await subject.folder("name")
            let error = try await subject.failure("a second folder") { _ = try await subject.folder("name") }
            try subject.expect(error.code == "filenameCollision", "it was \(error)")
        },
        StorePromise("a name that another client took is filenameCollision, never replaced") { subject in
            _ = try await subject.list()
            try await subject.other.write([9, 9], to: "name")
            let error = try await subject.failure("the create") { _ = try await subject.file("name") }
            try subject.expect(error.code == "filenameCollision", "it was \(error)")
            try subject.expect(try await subject.other.content(at: "name") == [9, 9], "their file was replaced")
        },
        StorePromise("a create in a deleted folder is noSuchItem naming the parent") { subject in
            let folder = try await subject.folder("folder")
            try await subject.other.delete("folder")
            let error = try await subject.failure("the create") {
                _ = try await subject.file("file", in: folder.identifier)
            }
            try subject.expect(error == .noSuchItem(folder.identifier), "it was \(error)")
        },
        StorePromise("a create whose contents end early leaves nothing") { subject in
            let error = try await subject.failure("the create") {
                try await ItemContents.with([1, 2, 3]) { contents async throws(RemoteStoreError) in
                    _ = try await subject.store.createItem(
                        basedOn: subject.template("file"), fields: [.place, .contents],
                        contents: ItemContents(file: contents.file, size: 9), options: [])
                }
            }
            try subject.expect(error.code == "cannotSynchronize", "it was \(error)")
            try subject.expect(try await subject.list().isEmpty, "something became visible")
        },
        StorePromise("a name used again is another item", when: \.keepsIdentifiers) { subject in
            let first = try await subject.file("name", "one")
            try await subject.store.deleteItem(first.identifier, base: first.version)
            let second = try await subject.file("name", "two")
            try subject.expect(first.identifier != second.identifier, "it has the identifier of the deleted one")
        },
    ]

    static let adopting: [StorePromise] = [
        StorePromise("mayAlreadyExist takes a file of equal content") { subject in
            let old = try await subject.file("file", "same")
            let answer = try await subject.create(
                subject.template("file", identifier: "again"), Array("same".utf8), options: .mayAlreadyExist)
            try subject.expect(answer.item?.identifier == old.identifier, "it is another item")
            try subject.expect(!answer.shouldFetchContent, "equal content should be fetched")
            try subject.expect(try await subject.names() == ["file"], "there is a second file")
        },
        StorePromise("mayAlreadyExist takes another client's file of equal content") { subject in
            try await subject.other.write(Array("same".utf8), to: "file")
            let answer = try await subject.create(
                subject.template("file"), Array("same".utf8), options: .mayAlreadyExist)
            let listed = try await subject.list()
            try subject.expect(listed.map(\.identifier) == [answer.item?.identifier], "it was not taken")
        },
        StorePromise("mayAlreadyExist never takes a file of other content") { subject in
            let old = try await subject.file("file", "same size")
            for content in ["SAME SIZE", "same size and more", ""] {
                let error = try await subject.failure("the create") {
                    _ = try await subject.create(
                        subject.template("file"), Array(content.utf8), options: .mayAlreadyExist)
                }
                try subject.expect(error.code == "filenameCollision", "it was \(error)")
            }
            try await subject.expectContent(old, "file", Array("same size".utf8))
        },
        StorePromise("mayAlreadyExist without contents never takes a file") { subject in
            _ = try await subject.file("file", "")
            let error = try await subject.failure("the create") {
                _ = try await subject.create(subject.template("file"), nil, options: .mayAlreadyExist)
            }
            try subject.expect(error.code == "filenameCollision", "it was \(error)")
        },
        StorePromise("mayAlreadyExist takes a folder as it is") { subject in
            let old = try await subject.folder("folder")
            _ = try await subject.file("inner", in: old.identifier)
            let answer = try await subject.create(
                subject.template("folder", .folder, identifier: "again"), options: .mayAlreadyExist)
            try subject.expect(answer.item?.identifier == old.identifier, "it is another folder")
            try subject.expect(try await subject.names(old.identifier) == ["inner"], "its content changed")
        },
        StorePromise("mayAlreadyExist takes a symlink of the same target only", when: \.keepsSymlinks) { subject in
            let old = try subject.made(await subject.create(subject.template("link", .symlink, target: "there")))
            let same = subject.template("link", .symlink, target: "there", identifier: "again")
            let answer = try await subject.create(same, options: .mayAlreadyExist)
            try subject.expect(answer.item?.identifier == old.identifier, "it is another symlink")
            let error = try await subject.failure("another target") {
                let other = subject.template("link", .symlink, target: "elsewhere")
                _ = try await subject.create(other, options: .mayAlreadyExist)
            }
            try subject.expect(error.code == "filenameCollision", "it was \(error)")
        },
        StorePromise("mayAlreadyExist never takes an item of another kind") { subject in
            _ = try await subject.folder("name")
            let error = try await subject.failure("the create") {
                _ = try await subject.create(subject.template("name"), [], options: .mayAlreadyExist)
            }
            try subject.expect(error.code == "filenameCollision", "it was \(error)")
        },
    ]

    static let recovering: [StorePromise] = [
        StorePromise("itemCreated finds what a template made", when: \.recognizesCreates) { subject in
            for (template, content) in [
                (subject.template("file"), [UInt8]("bytes".utf8)), (subject.template("folder", .folder), nil),
            ] {
                let item = try subject.made(await subject.create(template, content))
                let found = try await subject.store.itemCreated(from: template)
                try subject.expect(found == item, "\(template.filename): it found \(String(describing: found))")
            }
        },
        StorePromise("itemCreated finds a symlink", when: \.keepsSymlinks) { subject in
            let template = subject.template("link", .symlink, target: "there")
            let item = try subject.made(await subject.create(template))
            try subject.expect(try await subject.store.itemCreated(from: template) == item, "it found another")
        },
        StorePromise("itemCreated finds nothing for a template that made nothing") { subject in
            let never = subject.template("file", identifier: "never sent")
            try subject.expect(try await subject.store.itemCreated(from: never) == nil, "it found something")
            _ = try await subject.file("file")
            try subject.expect(try await subject.store.itemCreated(from: never) == nil, "it found another's item")
        },
        StorePromise("itemCreated finds an item that another client renamed", when: \.recognizesCreates) { subject in
            let template = subject.template("before")
            let item = try subject.made(await subject.create(template, [1, 2]))
            try await subject.other.move("before", to: "after")
            let found = try await subject.store.itemCreated(from: template)
            try subject.expect(found?.identifier == item.identifier, "it was not found")
            try subject.expect(found?.filename == FileName("after"), "it is not in its newest state")
        },
        StorePromise(
            "a repeated create adopts the earlier item", when: StorePromise.lacking(\.recognizesCreates)
        ) { subject in
            let template = subject.template("file")
            let item = try subject.made(await subject.create(template, [1, 2]))
            let found = try await subject.store.itemCreated(from: template)
            try subject.expect(found == nil || found == item, "it found \(String(describing: found))")
            let again = try subject.made(await subject.create(template, [1, 2], options: .mayAlreadyExist))
            try subject.expect(again == item, "it is another item")
            try subject.expect(try await subject.names() == ["file"], "there is a second file")
        },
        StorePromise("itemCreated finds nothing when the item is gone") { subject in
            let template = subject.template("file")
            _ = try await subject.create(template, [1, 2])
            try await subject.other.delete("file")
            try subject.expect(try await subject.store.itemCreated(from: template) == nil, "it found something")
        },
    ]

    /// A megabyte and a byte without repeated blocks; generated once, because it takes a while.
    private static let megabyte: [UInt8] = (0..<1_048_577).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}
