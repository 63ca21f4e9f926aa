import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import S3Store

/// Multipart uploads that are interrupted anywhere, by the network or with the process.
@Suite struct CutUploadTests {
    /// Parts cost their owner storage: the next process uses or removes those that a process left.
    @Test(arguments: [HTTPFault.lostRequest, .lostAnswer]) func aKilledUploadLeavesNoParts(_ fault: HTTPFault)
        async throws
    {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let content = [UInt8](repeating: 7, count: 200_000)
        var (number, mostLeft) = (0, 0)
        while number < 40 {
            number += 1
            let last = number
            let session = try S3FaultedSession(server, bucket, attempts: 1) { (count, _) in
                count > last ? .lostRequest : count == last ? fault : nil
            }
            let template = ItemTemplate(
                identifier: ItemIdentifier("template of large in \(ItemIdentifier.root)"), parent: .root,
                filename: FileName("large"), kind: .file)
            var isAnswered = false
            try await session.run { store in
                let made = try await session.armed {
                    try? await ItemContents.with(content) { contents async throws(RemoteStoreError) in
                        try await store.createItem(
                            basedOn: template, fields: [.place, .contents], contents: contents, options: [])
                    }
                }
                isAnswered = made != nil
            }
            if isAnswered { break }
            mostLeft = max(mostLeft, try await session.unfinishedUploads())
            try await session.run { store in
                let retrying = RetryingStore(store)
                let other = try await retrying.create("other", .file, in: .root, [])
                // The one that is continued, if a part of it has arrived.
                #expect(try await session.unfinishedUploads() <= 1, "\(session.faulted)")
                let made = try await retrying.create("large", .file, in: .root, content)
                #expect(try await session.unfinishedUploads() == 0, "\(session.faulted)")
                #expect(try await session.files() == ["large": content, "other": []], "\(session.faulted)")
                for item in [made, other] { try await retrying.delete(item) }
                #expect(try await session.leftovers() == [])
            }
        }
        #expect((7..<40).contains(number) && mostLeft == 1)
    }

    /// Whoever opens the store later aborts uploads that nobody continues, and no other's.
    @Test func partsOfARemovedDomainAreAborted() async throws {
        let server = try S3Server.shared
        let isDead = Locked(true)
        let session = try S3FaultedSession(server, try await server.bucket(), attempts: 1) { (_, request) in
            // The last one: by then parts have arrived, without which nobody would continue it.
            let isLost = request.words[1].contains("partNumber=10") && isDead.withLock { $0 }
            return isLost ? .lostRequest : nil
        }
        let content = [UInt8](repeating: 7, count: 600_000)
        try await session.run { store in
            let made = try await session.armed {
                try? await store.createOnce("large", content)
            }
            #expect(made == nil)
        }
        isDead.withLock { $0 = false }
        _ = try await session.beginElsewhere("other-tool")
        try session.forgetEverything()
        func uploads(after name: String, _ seconds: Int64) async throws -> Int {
            session.setAbandonment(seconds)
            try await session.run { _ = try await RetryingStore($0).create(name, .file, in: .root, []) }
            return try await session.unfinishedUploads()
        }
        let fresh = try await uploads(after: "first", 3_600)
        #expect(fresh == 2)
        try await Task.sleep(for: .seconds(16))
        // Its machine goes on, also while the uploads are looked at, however long that takes.
        try await session.sendElsewhere("large", 4)
        let machine = Task {
            while !Task.isCancelled {
                try await session.sendElsewhere("large", 4)
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        let continued = try await uploads(after: "second", 15)
        machine.cancel()
        _ = await machine.result
        #expect(continued == 2)
        try await Task.sleep(for: .seconds(2))
        let abandoned = try await uploads(after: "third", 0)
        #expect(abandoned == 1)
        #expect(try await session.notes() == [])
    }
}
