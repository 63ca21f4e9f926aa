import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import SFTPStore

/// Writing and reading the packets of the protocol.
@Suite struct PacketTests {
    private static let attributes = SFTPAttributes(
        size: 0x1_0000_0002, owner: SFTPAttributes.Owner(user: 3, group: 4), mode: 0o100644,
        times: SFTPAttributes.Times(access: 5, modification: 6))

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func string(_ text: String) -> [UInt8] { [0, 0, 0, UInt8(text.utf8.count)] + bytes(text) }

    private static let id: [UInt8] = [0, 0, 0, 9]

    /// According to the draft and OpenSSH's PROTOCOL, field by field.
    @Test func requestsAreEncodedAsSpecified() {
        let (a, b) = (Self.bytes("/a"), Self.bytes("/b"))
        let table: [(SFTPRequest, [UInt8])] = [
            (
                .open(a, [.write, .create, .exclusive], mode: 0o600),
                [3] + Self.id + Self.string("/a") + [0, 0, 0, 0x2A, 0, 0, 0, 4, 0, 0, 1, 0x80]
            ),
            (.open(a, .read), [3] + Self.id + Self.string("/a") + [0, 0, 0, 1, 0, 0, 0, 0]),
            (.close(a), [4] + Self.id + Self.string("/a")),
            (.read(a, at: 258, count: 7), [5] + Self.id + Self.string("/a") + [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 7]),
            (
                .write(a, at: 1, [8, 9]),
                [6] + Self.id + Self.string("/a") + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 8, 9]
            ),
            (.lstat(a), [7] + Self.id + Self.string("/a")),
            (.fstat(a), [8] + Self.id + Self.string("/a")),
            (
                .set(SFTPAttributes(size: 1), of: a),
                [9] + Self.id + Self.string("/a") + [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
            ),
            (
                .set(SFTPAttributes(times: .init(access: 1, modification: 2)), ofHandle: a),
                [10] + Self.id + Self.string("/a") + [0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 2]
            ),
            (.openFolder(a), [11] + Self.id + Self.string("/a")),
            (.readFolder(a), [12] + Self.id + Self.string("/a")),
            (.remove(a), [13] + Self.id + Self.string("/a")),
            (.makeFolder(a), [14] + Self.id + Self.string("/a") + [0, 0, 0, 0]),
            (.removeFolder(a), [15] + Self.id + Self.string("/a")),
            (.realPath(a), [16] + Self.id + Self.string("/a")),
            (.stat(a), [17] + Self.id + Self.string("/a")),
            (.rename(a, to: b), [18] + Self.id + Self.string("/a") + Self.string("/b")),
            (.readSymlink(a), [19] + Self.id + Self.string("/a")),
            (.makeSymlink(a, target: b), [20] + Self.id + Self.string("/b") + Self.string("/a")),
            (.sync(a), [200] + Self.id + Self.string("fsync@openssh.com") + Self.string("/a")),
            (
                .hardLink(a, at: b),
                [200] + Self.id + Self.string("hardlink@openssh.com") + Self.string("/a") + Self.string("/b")
            ),
            (
                .replace(b, with: a),
                [200] + Self.id + Self.string("posix-rename@openssh.com") + Self.string("/a") + Self.string("/b")
            ),
            (.limits, [200] + Self.id + Self.string("limits@openssh.com")),
        ]
        for (request, expected) in table {
            #expect(request.packet(9) == [0, 0, 0, UInt8(expected.count)] + expected)
        }
        #expect(SFTPRequest.hello == [0, 0, 0, 5, 1, 0, 0, 0, 3])
    }

    @Test func repliesAreDecoded() throws {
        var writer = FieldWriter()
        Self.attributes.write(to: &writer)
        let attributes = writer.bytes
        let table: [([UInt8], SFTPReply)] = [
            (
                [101] + Self.id + [0, 0, 0, 2] + Self.string("gone\u{1B}") + Self.string("en"),
                .status(SFTPStatus(code: .noSuchFile, text: "gone "))
            ),
            ([101] + Self.id + [0, 0, 0, 0], .status(SFTPStatus(code: .ok))),
            ([102] + Self.id + Self.string("h"), .handle(Self.bytes("h"))),
            ([103] + Self.id + Self.string("data"), .data(Self.bytes("data")[...])),
            ([105] + Self.id + attributes, .attributes(Self.attributes)),
            (
                [105] + Self.id + [0x80, 0, 0, 0, 0, 0, 0, 1] + Self.string("x") + Self.string("y"),
                .attributes(SFTPAttributes())
            ),
            (
                [104] + Self.id + [0, 0, 0, 1] + Self.string("n") + Self.string("-rw n") + attributes,
                .names([SFTPReply.Name(bytes: Self.bytes("n"), attributes: Self.attributes)])
            ),
            ([201] + Self.id + [7, 8], .extended([7, 8])),
        ]
        for (packet, expected) in table {
            let (number, reply) = try SFTPReply.read(packet)
            #expect(number == 9 && reply == expected)
        }
        let hello = try SFTPHello([2, 0, 0, 0, 3] + Self.string("fsync@openssh.com") + Self.string("1"))
        #expect(hello.has("fsync@openssh.com") && !hello.has("limits@openssh.com"))
    }

    /// A truncated packet is rejected at any length: missing fields are not invented.
    @Test func truncatedPacketsAreRejected() throws {
        var writer = FieldWriter()
        Self.attributes.write(to: &writer)
        let whole: [[UInt8]] = [
            [102] + Self.id + Self.string("handle"), [103] + Self.id + Self.string("data"),
            [104] + Self.id + [0, 0, 0, 1] + Self.string("n") + Self.string("l") + writer.bytes,
            [105] + Self.id + writer.bytes, [101] + Self.id + [0, 0, 0, 4] + Self.string("text"),
        ]
        for packet in whole {
            _ = try SFTPReply.read(packet)
            for count in 0..<packet.count where !(packet[0] == 101 && count == 9) {
                #expect(throws: MalformedPacket.self) { try SFTPReply.read(Array(packet.prefix(count))) }
            }
        }
        #expect(throws: MalformedPacket.self) { try SFTPHello([2, 0, 0, 0, 3] + Self.string("name")) }
        #expect(throws: MalformedPacket.self) { try SFTPHello([2, 0, 0, 0, 6]) }
        #expect(throws: MalformedPacket.self) { try SFTPHello([101, 0, 0, 0, 3]) }
    }

    /// Lengths and counts without enough bytes take no memory and no time.
    @Test func impossibleCountsAreRejected() {
        let most: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        for packet in [
            [104] + Self.id + most, [104] + Self.id + most + Self.string("n"), [103] + Self.id + most,
            [102] + Self.id + most + [1], [105] + Self.id + [0x80, 0, 0, 0] + most,
            [102] + Self.id + [0, 0, 1, 1] + [UInt8](repeating: 1, count: 257), [99] + Self.id,
        ] {
            #expect(throws: MalformedPacket.self) { try SFTPReply.read(packet) }
        }
    }

    @Test func packetsAreExtractedFromTheStream() throws {
        let stream: [UInt8] = [0, 0, 0, 2, 1, 2, 0, 0, 0, 1, 3, 0, 0, 0, 3, 4]
        for step in 1...stream.count {
            var (buffer, found) = (PacketBuffer(), [[UInt8]]())
            for start in stride(from: 0, to: stream.count, by: step) {
                try stream[start..<min(start + step, stream.count)].withUnsafeBytes { bytes in
                    try buffer.take(bytes) { found.append($0) }
                }
            }
            #expect(found == [[1, 2], [3]] && buffer.waiting == 5)
        }
        for length in [[0, 0, 0, 0], [0, 4, 4, 1], [0xFF, 0xFF, 0xFF, 0xFF], Self.bytes("Welc")] as [[UInt8]] {
            var buffer = PacketBuffer()
            #expect(throws: MalformedPacket.self) {
                try length.withUnsafeBytes { bytes in try buffer.take(bytes) { _ in } }
            }
        }
    }

    @Test func extremeSpaceFiguresAreAccepted() throws {
        func room(_ size: UInt64, _ blocks: UInt64, _ free: UInt64, _ available: UInt64) throws -> StoreUsage? {
            let values: [UInt64] = [4096, size, blocks, free, available, 10, 5, 5, 0, 0, 255]
            let bytes = values.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
            return try #require(ServerSpace(bytes[...])).usage
        }
        #expect(try room(4096, 100, 60, 50) == StoreUsage(total: 409_600, used: 163_840, free: 204_800))
        #expect(try room(0, 100, 60, 60) == StoreUsage(total: 100, used: 40))
        #expect(try room(.max, .max, .max, .max) == StoreUsage(total: .max, used: 0))
        #expect(try room(1, 100, .max, .max) == StoreUsage(total: 100, used: 0))
        #expect(try room(4096, 0, 1, 1) == nil)
    }

    /// Arbitrary packets are read or rejected, and never read beyond their end.
    @Test func anyBytesAreParsedOrRejected() {
        var random = SeededBytes(seed: 17)
        var (read, refused) = (0, 0)
        for _ in 0..<60_000 {
            var packet = random.bytes(most: 80)
            // Mostly similar to an answer.
            let kinds: [UInt8] = [101, 102, 103, 104, 105, 201]
            if let kind = kinds.randomElement(using: &random), packet.count > 5,
                random.next() % 8 != 0
            {
                packet[0] = kind
                // Small counts, so that fields are found.
                for index in packet.indices.dropFirst(5) where random.next() % 2 == 0 { packet[index] &= 3 }
            }
            do {
                let (_, reply) = try SFTPReply.read(packet)
                read += 1
                switch reply {
                case .names(let names): #expect(names.count * 12 <= packet.count)
                case .data(let bytes), .extended(let bytes): #expect(bytes.count <= packet.count)
                case .handle(let bytes): #expect(bytes.count <= packet.count)
                case .status, .attributes: break
                }
            } catch {
                refused += 1
            }
            _ = try? SFTPHello(packet)
            _ = ServerSpace(packet[...])
            _ = try? TransferSizes(packet[...])
        }
        #expect(read > 5_000 && refused > 5_000)
    }
}

/// Numbers by a seed.
struct SeededBytes: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 11 ^ state << 13
    }

    mutating func bytes(most: Int) -> [UInt8] {
        (0..<Int(next() % UInt64(most))).map { _ in UInt8(truncatingIfNeeded: next() >> 17) }
    }
}
