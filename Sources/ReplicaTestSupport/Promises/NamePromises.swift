import ReplicaModel

extension StorePromises {
    static let names: [StorePromise] = [
        StorePromise("names come back byte for byte") { subject in
            let longest = String(repeating: "x", count: subject.store.properties.longestName)
            let names = [
                "with space", " leading", "trailing ", ".hidden", "-dash", "ünïcödé", "日本語", "a\\b", "100%", "#?&=",
                "tab\tand\nnewline", "quote\"'`$(x)", longest,
            ]
            for name in names { _ = try await subject.file(name, name) }
            try subject.expect(try await subject.names() == names.sorted(), "the listing has other names")
            for item in try await subject.list() {
                let text = String(decoding: try await subject.fetch(item), as: UTF8.self)
                try subject.expect(FileName(text) == item.filename, "\(item.filename) holds another's bytes")
            }
        },
        StorePromise("names that no folder can hold are refused and harm nothing") { subject in
            let folder = try await subject.folder("folder")
            let file = try await subject.file("file")
            for name in ["", ".", "..", "a/b", "../escape", "nul\0nul"] {
                let created = try await subject.failure("creating \(name)") {
                    _ = try await subject.file(name, in: folder.identifier)
                }
                try subject.expect(created.code == "cannotSynchronize", "creating \(name) was \(created)")
                let renamed = try await subject.failure("renaming to \(name)") {
                    _ = try await subject.modify(file, .filename) { $0.filename = FileName(name) }
                }
                try subject.expect(renamed.code == "cannotSynchronize", "renaming to \(name) was \(renamed)")
            }
            try subject.expect(try await subject.list(folder.identifier).isEmpty, "something was made")
            try subject.expect(try await subject.names() == ["file", "folder"], "the root changed")
        },
        StorePromise("a name over the longest is refused") { subject in
            let name = String(repeating: "x", count: subject.store.properties.longestName + 1)
            let error = try await subject.failure("the create") { _ = try await subject.file(name) }
            try subject.expect(error.code == "cannotSynchronize", "it was \(error)")
            try subject.expect(try await subject.list().isEmpty, "something was made")
        },
        StorePromise("names that differ in case are two names", when: \.isCaseSensitive) { subject in
            let lower = try await subject.file("name", "lower")
            let upper = try await subject.file("NAME", "upper")
            try await subject.expectContent(lower, "name", Array("lower".utf8))
            try await subject.expectContent(upper, "NAME", Array("upper".utf8))
        },
        StorePromise("names that differ in case collide", when: StorePromise.lacking(\.isCaseSensitive)) { subject in
            let lower = try await subject.file("name", "lower")
            let error = try await subject.failure("the create") { _ = try await subject.file("NAME", "upper") }
            try subject.expect(error.code == "filenameCollision", "it was \(error)")
            try await subject.expectContent(lower, "name", Array("lower".utf8))
            let renamed = try await subject.modify(lower, .filename) { $0.filename = FileName("Name") }
            try subject.expect(renamed.item?.filename == FileName("Name"), "its own case cannot be changed")
        },
    ]
}
