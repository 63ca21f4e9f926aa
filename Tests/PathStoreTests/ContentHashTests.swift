import CSHA256
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import PathStore

@Suite struct ContentHashTests {
    /// The examples of FIPS 180-4, and lengths around a block's end as sha256sum(1) has them.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (String(repeating: "a", count: 1_000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ])
    func hashesMatchThePublishedExamples(_ text: String, _ hash: String) {
        #expect(hexadecimal(ContentHash.of(Array(text.utf8))) == hash)
    }

    @Test func piecesAndFilesHaveTheSameHash() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
        var pieces = ContentHash()
        for start in stride(from: 0, to: bytes.count, by: 997) {
            bytes[start..<min(start + 997, bytes.count)].withUnsafeBytes { pieces.add($0) }
        }
        let whole = ContentHash.of(bytes)
        #expect(pieces.finish() == whole)
        let (ofFile, ofMore) = try await ItemContents.with(bytes) { contents in
            (ContentHash.of(contents.file, size: contents.size), ContentHash.of(contents.file, size: contents.size + 1))
        }
        #expect(ofFile == whole)
        #expect(ofMore == nil)
    }

    /// The processor's instructions, where it has them, and any number of blocks at any address.
    @Test func theHashIsTheSameOnEveryProcessor() {
        let bytes = (0..<4_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 5) }
        for (start, blocks) in [(0, 0), (0, 1), (1, 2), (7, 17), (13, 62)] {
            var (own, portable) = ([UInt32](0..<8), [UInt32](0..<8))
            bytes.withUnsafeBytes { bytes in
                csha256_add(&own, bytes.baseAddress?.advanced(by: start), blocks)
                csha256_add_portably(&portable, bytes.baseAddress?.advanced(by: start), blocks)
            }
            #expect(own == portable && (own == [UInt32](0..<8)) == (blocks == 0))
        }
    }
}
