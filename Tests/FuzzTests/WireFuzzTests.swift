import Foundation
import PathStore
import ReplicaModel
import Testing

@testable import ProcessStore
@testable import SFTPStore
@testable import StoreServer

/// What programs of stores, the daemon and servers of files send.
@Suite struct WireFuzzTests {
    @Test func anyPacketIsParsedOrRejected() throws {
        try Fuzzer.run("packets", rounds: 20_000) { bytes in
            var isRead = false
            do throws(MalformedPacket) {
                let (_, reply) = try SFTPReply.read(bytes)
                isRead = true
                switch reply {
                case .names(let names): #expect(names.count * 12 <= bytes.count)
                case .data(let part), .extended(let part): #expect(part.count <= bytes.count)
                case .handle(let part): #expect(part.count <= 256)
                case .status, .attributes: break
                }
            } catch {
                #expect(!error.reason.isEmpty)
            }
            isRead = (try? SFTPHello(bytes)) != nil || isRead
            _ = ServerSpace(bytes[...])
            _ = try? TransferSizes(bytes[...])
            var buffer = PacketBuffer()
            bytes.withUnsafeBytes { piece in
                do throws(MalformedPacket) {
                    try buffer.take(piece) { packet in #expect(packet.count < bytes.count) }
                } catch {
                    #expect(!error.reason.isEmpty)
                }
            }
            return isRead
        }
    }

    @Test func anyLineOfAStoreIsParsedOrRejected() throws {
        try Fuzzer.run("lines") { bytes in
            var isRead = false
            var buffer = LineBuffer(limit: 4 << 10)
            for line in bytes.withUnsafeBytes({ buffer.take($0) }).compactMap(\.self) + [bytes] {
                do throws(IncomingLine.Malformed) {
                    _ = try IncomingLine.read(line)
                    isRead = true
                } catch {
                    #expect(error.reason.utf8.count < 1_000)
                }
                isRead = (try? IncomingLine.read(Hello.self, line)) != nil || isRead
            }
            return isRead
        }
    }

    @Test func anyCallOfTheDaemonIsParsedOrRejected() throws {
        try Fuzzer.run("calls") { bytes in
            guard let line = try? JSONDecoder().decode(ServedLine.self, from: Data(bytes)) else { return false }
            if let range = line.with?.range { #expect(range.lowerBound >= 0) }
            return true
        }
    }
}
