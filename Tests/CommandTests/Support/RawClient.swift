import Foundation
import Glibc
import ReplicaControl
import SystemPackage

/// A client that sends arbitrary bytes. Blocks, so it needs its own thread.
final class RawClient {
    private let socket: FileDescriptor
    private var isClosed = false
    private var received = ControlLineBuffer()

    init(_ domain: FakeDomain) throws {
        socket = try ControlSocket.connect(state: domain.state)
    }

    deinit { close() }

    /// Sends everything, without SIGPIPE: the server may have closed.
    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 { throw Errno(rawValue: errno) }
            rest.removeFirst(count)
        }
    }

    /// Ends this side only.
    func endSending() {
        shutdown(socket.rawValue, Int32(SHUT_WR))
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        _ = Glibc.close(socket.rawValue)
    }

    /// The next line, or nil at the end of the stream.
    func line() throws -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let line = try received.next() { return String(decoding: line, as: UTF8.self) }
            let count = try buffer.withUnsafeMutableBytes { try socket.read(into: $0) }
            if count == 0 { return nil }
            received.append(buffer.prefix(count))
        }
    }
}
