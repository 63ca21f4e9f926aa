import ReplicaModel

extension StorePromises {
    static let concurrency: [StorePromise] = [
        StorePromise("concurrent creates in one folder all succeed") { subject in
            let folder = try await subject.folder("folder")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<48 {
                    group.addTask { _ = try await subject.file("\(number)", "\(number)", in: folder.identifier) }
                }
                try await group.waitForAll()
            }
            for item in try await subject.list(folder.identifier) {
                let content = try await subject.fetch(item)
                try subject.expect(FileName(bytes: content) == item.filename, "\(item.filename) has others' bytes")
            }
            try subject.expect(try await subject.list(folder.identifier).count == 48, "some are missing")
        },
        StorePromise("of concurrent creates of one name exactly one succeeds") { subject in
            for round in 0..<5 {
                let winners = try await withThrowingTaskGroup(of: Item?.self) { group in
                    for number in 0..<6 {
                        group.addTask {
                            let template = subject.template("name \(round)", identifier: "\(round) \(number)")
                            do {
                                return try await subject.create(template, Array("\(number)".utf8)).item
                            } catch RemoteStoreError.filenameCollision {
                                return nil
                            }
                        }
                    }
                    return try await group.reduce(into: []) { if let item = $1 { $0.append(item) } }
                }
                try subject.expect(winners.count == 1, "\(winners.count) won")
            }
            try subject.expect(try await subject.list().count == 5, "there are more items than names")
        },
        StorePromise("concurrent moves to one place lose nothing") { subject in
            let files = try await [subject.file("one", "1"), subject.file("two", "2"), subject.file("three", "3")]
            await withTaskGroup(of: Void.self) { group in
                for file in files {
                    group.addTask {
                        // All but one collide; the listing below shows the result.
                        _ = try? await subject.modify(file, .filename) { $0.filename = FileName("place") }
                    }
                }
            }
            var contents: Set<[UInt8]> = []
            for item in try await subject.list() { contents.insert(try await subject.fetch(item)) }
            try subject.expect(contents == [[0x31], [0x32], [0x33]], "the contents left are \(contents)")
        },
    ]
}
