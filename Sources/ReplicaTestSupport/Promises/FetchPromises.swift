import ReplicaModel

extension StorePromises {
    static let fetching: [StorePromise] = [
        StorePromise("a fetch answers the item that its bytes belong to") { subject in
            let file = try await subject.file("file", "some bytes")
            let buffer = ContentBuffer()
            let answer = try await subject.store.fetchContents(
                of: file.identifier, version: file.version.content, range: nil, into: buffer)
            try subject.expect(answer == file, "it answers \(answer)")
            try subject.expect(buffer.bytes == Array("some bytes".utf8), "the bytes are others")
        },
        StorePromise("a range gives at least its bytes, in their places", when: \.fetchesRanges) { subject in
            let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
            let file = try subject.made(await subject.create(subject.template("file"), content))
            for range in [Int64(0)..<1, 99_999..<150_001, 199_999..<200_000, 0..<200_000] {
                let bytes = try await subject.fetch(file, version: file.version.content, range: range)
                let wanted = content[Int(range.lowerBound)..<Int(range.upperBound)]
                try subject.expect(bytes.count >= Int(range.upperBound), "\(range) ends at \(bytes.count)")
                let found = bytes[Int(range.lowerBound)..<Int(range.upperBound)]
                try subject.expect(found.elementsEqual(wanted), "\(range) has other bytes")
            }
        },
        StorePromise("a range beyond the end gives what there is", when: \.fetchesRanges) { subject in
            let file = try await subject.file("file", "0123456789")
            let bytes = try await subject.fetch(file, range: 5..<1_000)
            try subject.expect(bytes.suffix(5).elementsEqual("56789".utf8), "it gave \(bytes)")
            _ = try await subject.fetch(file, range: 50..<60)
        },
        StorePromise("a version that is not the present one is versionNoLongerAvailable") { subject in
            let base = try await subject.file("file", "base")
            let new = try subject.made(await subject.modify(base, .contents, Array("newer".utf8)))
            let error = try await subject.failure("the fetch") {
                _ = try await subject.fetch(new, version: base.version.content)
            }
            try subject.expect(error == .versionNoLongerAvailable, "it was \(error)")
        },
        StorePromise("a fetch without a version gives the newest bytes") { subject in
            _ = try await subject.file("file", "base")
            try await subject.other.write(Array("them".utf8), to: "file")
            guard let present = try await subject.list().first else { throw BrokenPromise("nothing is listed") }
            try subject.expect(try await subject.fetch(present) == Array("them".utf8), "the bytes are others")
        },
        StorePromise("a fetch of a deleted item is noSuchItem") { subject in
            let file = try await subject.file("file")
            try await subject.other.delete("file")
            let error = try await subject.failure("the fetch") { _ = try await subject.fetch(file) }
            try subject.expect(error == .noSuchItem(file.identifier), "it was \(error)")
        },
        StorePromise("a folder has no contents to fetch") { subject in
            let folder = try await subject.folder("folder")
            let error = try await subject.failure("the fetch") { _ = try await subject.fetch(folder) }
            try subject.expect(error.code == "cannotSynchronize", "it was \(error)")
        },
        StorePromise("a sink's refusal ends the fetch with the sink's error") { subject in
            let file = try await subject.file("file", "some bytes")
            let error = try await subject.failure("the fetch") {
                _ = try await subject.store.fetchContents(
                    of: file.identifier, version: nil, range: nil, into: RefusingSink())
            }
            try subject.expect(error == .cancelled, "it was \(error)")
        },
    ]
}

/// A sink whose caller is gone.
private struct RefusingSink: ContentSink {
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) {
        throw .cancelled
    }
}
