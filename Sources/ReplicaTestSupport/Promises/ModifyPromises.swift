import ReplicaModel

extension StorePromises {
    static let modifying: [StorePromise] = [
        StorePromise("new contents replace the old ones, under a new version") { subject in
            let old = try await subject.file("file", "old")
            let new = try subject.made(await subject.modify(old, .contents, Array("new bytes".utf8)))
            try subject.expect(new.version.content != old.version.content, "the content version is the old one")
            try subject.expect(new.filename == old.filename && new.parent == old.parent, "the place changed")
            try subject.expect(new.size == 9, "the size is \(new.size)")
            try await subject.expectContent(new, "file", Array("new bytes".utf8))
            try subject.expect(try await subject.names() == ["file"], "there is more than the one file")
        },
        StorePromise("contents of the same size get a new version, however fast") { subject in
            var item = try await subject.file("file", "0")
            var versions: Set<String> = [item.version.content]
            for digit in 1...9 {
                item = try subject.made(await subject.modify(item, .contents, Array("\(digit)".utf8)))
                try subject.expect(versions.insert(item.version.content).inserted, "a version came twice")
            }
        },
        StorePromise("contents on a stale base are versionConflict with the present item") { subject in
            let base = try await subject.file("file", "base")
            try await subject.other.write(Array("them".utf8), to: "file")
            let error = try await subject.failure("the modify") {
                _ = try await subject.modify(base, .contents, Array("ours".utf8))
            }
            // A store whose identifiers name one content may find that the item itself is gone.
            if error != .noSuchItem(base.identifier) {
                guard case .versionConflict(let present) = error else { throw BrokenPromise("it was \(error)") }
                try subject.expect(present?.version.content != base.version.content, "it carries the base")
            }
            try subject.expect(
                try await subject.other.content(at: "file") == Array("them".utf8), "their bytes are lost")
        },
        StorePromise("new contents and a new name arrive together") { subject in
            let old = try await subject.file("before", "old")
            let result = try await subject.modify(old, .filename, Array("new".utf8)) {
                $0.filename = FileName("after")
            }
            try subject.expect(result.stillPending.isDisjoint(with: [.filename, .contents]), "something is pending")
            try subject.expect(try await subject.names() == ["after"], "the name is not the new one")
            try await subject.expectContent(try subject.made(result), "after", Array("new".utf8))
        },
        StorePromise("a modify whose contents end early leaves the old ones") { subject in
            let old = try await subject.file("file", "old")
            let error = try await subject.failure("the modify") {
                try await ItemContents.with([1, 2, 3]) { contents async throws(RemoteStoreError) in
                    _ = try await subject.store.modifyItem(
                        ItemTemplate(
                            identifier: old.identifier, parent: .root, filename: old.filename, kind: .file),
                        base: old.version, changedFields: .contents,
                        contents: ItemContents(file: contents.file, size: 9))
                }
            }
            try subject.expect(error.code == "cannotSynchronize", "it was \(error)")
            try await subject.expectContent(old, "file", Array("old".utf8))
            try subject.expect(try await subject.refreshed(old) == old, "the item changed")
        },
        StorePromise("a modify of a deleted item is noSuchItem naming it") { subject in
            let file = try await subject.file("file")
            try await subject.other.delete("file")
            for content in [[1], nil] as [[UInt8]?] {
                let error = try await subject.failure("the modify") {
                    _ = try await subject.modify(file, .filename, content) { $0.filename = FileName("renamed") }
                }
                try subject.expect(error == .noSuchItem(file.identifier), "it was \(error)")
            }
            try subject.expect(try await subject.list().isEmpty, "the item came back")
        },
    ]

    static let metadata: [StorePromise] = [
        StorePromise("metadata that is kept comes back with a create") { subject in
            for (field, sample) in samples(subject.store.properties.fields) {
                let name = "field \(field.rawValue)"
                var template = subject.template(name)
                template.metadata = sample
                let result = try await subject.create(template, [1], fields: field.union(.place))
                let item = try subject.made(result)
                try expectKept(field, sample, item, subject)
                try subject.expect(result.stillPending.isDisjoint(with: field), "\(name) is still pending")
            }
        },
        StorePromise("metadata that is kept comes back with a modify, and asks for no fetch") { subject in
            for (field, sample) in samples(subject.store.properties.fields) {
                let old = try await subject.file("field \(field.rawValue)")
                let result = try await subject.modify(old, field) { $0.metadata = sample }
                let new = try subject.made(result)
                try expectKept(field, sample, new, subject)
                try subject.expect(new.version.metadata != old.version.metadata, "the metadata version is the old")
                try subject.expect(!result.shouldFetchContent, "a change of metadata asks for a fetch")
                try subject.expect(try await subject.refreshed(new) == new, "the item is not as answered")
            }
        },
        StorePromise("a change of metadata leaves a content that its answer's version names") { subject in
            for (field, sample) in samples(subject.store.properties.fields) {
                let old = try await subject.file("field \(field.rawValue)", "old")
                let new = try subject.made(await subject.modify(old, field) { $0.metadata = sample })
                let newer = try subject.made(await subject.modify(new, .contents, Array("new".utf8)))
                let last = try subject.made(await subject.modify(newer, field) { $0.metadata = sample })
                try await subject.store.deleteItem(last.identifier, base: last.version)
            }
            try subject.expect(try await subject.list().isEmpty, "something is left")
        },
        StorePromise("a metadata change on an outdated content sets shouldFetchContent") { subject in
            for (field, sample) in samples(subject.store.properties.fields) + [(.filename, ItemMetadata())] {
                let name = "field \(field.rawValue)"
                let old = try await subject.file(name, "old")
                try await subject.other.write(Array("foreign".utf8), to: name)
                let result = try await subject.modify(old, field) {
                    $0.metadata = sample
                    $0.filename = FileName(name + (field == .filename ? " renamed" : ""))
                }
                try subject.expect(result.shouldFetchContent, "\(name): nothing says that the content is another")
            }
        },
        StorePromise("metadata that is cleared is gone, and not unknown") { subject in
            for (field, sample) in samples(subject.store.properties.fields) {
                var cleared = ItemMetadata()
                cleared.take(field, from: .cleared)
                guard cleared != ItemMetadata() else { continue }
                let old = try await subject.file("field \(field.rawValue)")
                let set = try subject.made(await subject.modify(old, field) { $0.metadata = sample })
                let new = try subject.made(await subject.modify(set, field) { $0.metadata = cleared })
                try expectKept(field, cleared, new, subject)
                try subject.expect(new.version.metadata != set.version.metadata, "the metadata version is the old")
            }
        },
        StorePromise("metadata of folders is kept") { subject in
            for (field, sample) in samples(subject.store.properties.fields) {
                let old = try await subject.folder("field \(field.rawValue)")
                let new = try subject.made(await subject.modify(old, field) { $0.metadata = sample })
                try expectKept(field, sample, new, subject)
            }
        },
        StorePromise("what a store cannot keep is still pending, the rest is done") { subject in
            for (field, sample) in samples(ItemFields.metadata.subtracting(subject.store.properties.fields)) {
                var template = subject.template("field \(field.rawValue)")
                template.metadata = sample
                let result = try await subject.create(template, [1], fields: field.union(.place))
                try subject.expect(result.stillPending == field, "pending is \(result.stillPending)")
                try subject.expect(try await subject.fetch(subject.made(result)) == [1], "the file is not there")
            }
        },
        StorePromise("fields that are not named are not applied") { subject in
            let old = try await subject.file("file")
            for (field, sample) in samples(subject.store.properties.fields) {
                let result = try await subject.modify(old, .filename) {
                    $0.metadata = sample
                    $0.filename = FileName("renamed by \(field.rawValue)")
                }
                let new = try subject.made(result)
                var wanted = ItemMetadata()
                var found = ItemMetadata()
                wanted.take(field, from: old.metadata)
                found.take(field, from: new.metadata)
                try subject.expect(wanted == found, "field \(field.rawValue) was applied")
            }
        },
    ]

    /// A value for each single field of `fields`.
    private static func samples(_ fields: ItemFields) -> [(ItemFields, ItemMetadata)] {
        var sample = ItemMetadata()
        sample.mode = 0o640
        sample.modificationDate = Timestamp(seconds: 1_234_567_890, nanoseconds: 123_456_789)
        sample.lastUsedDate = Timestamp(seconds: 1_500_000_000, nanoseconds: 0)
        sample.tags = "red,blue"
        sample.favoriteRank = 42
        sample.extendedAttributes = ["user.note": Array("a value".utf8)]
        let each: [ItemFields] = [
            .mode, .modificationDate, .lastUsedDate, .tags, .favoriteRank, .extendedAttributes,
        ]
        return each.filter { fields.contains($0) }.map { field in
            var metadata = ItemMetadata()
            metadata.take(field, from: sample)
            return (field, metadata)
        }
    }

    private static func expectKept(
        _ field: ItemFields, _ sample: ItemMetadata, _ item: Item, _ subject: StoreSubject
    ) throws {
        var found = ItemMetadata()
        found.take(field, from: item.metadata)
        try subject.expect(found == sample, "field \(field.rawValue) came back as \(found)")
    }
}
