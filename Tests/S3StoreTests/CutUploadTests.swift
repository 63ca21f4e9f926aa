import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import S3Store

/// Multipart uploads that are interrupted anywhere, by the network or with the process.
@Suite struct CutUploadTests {
    /// Parts cost their owner storage: the next process uses or removes those that a process left.
    @Test(arguments: [HTTPFault.lostRequest, .lostAnswer]) func aKilledOneLeavesNoParts(_ fault: HTTPFault) async throws
    {
        let server = try S3Server.shared
        let bucket = try await server.bucket()
        let content = [UInt8](repeating: 7, count: 200_000)
        var (number, mostLeft) = (0, 0)
        while number < 40 {
            number += 1
            let last = number
            let session = try FaultedSession(server, bucket, attempts: 1) { (count, _) in
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
                let patient = PatientStore(store)
                let other = try await patient.create("other", .file, in: .root, [])
                // The one that is continued, if a part of it has arrived.
                #expect(try await session.unfinishedUploads() <= 1, "\(session.faulted)")
                let made = try await patient.create("large", .file, in: .root, content)
                #expect(try await session.unfinishedUploads() == 0, "\(session.faulted)")
                #expect(try await session.files() == ["large": content, "other": []], "\(session.faulted)")
                for item in [made, other] { try await patient.delete(item) }
                try await session.isTidy()
            }
        }
        #expect((7..<40).contains(number) && mostLeft == 1)
    }
}
