import CLinux
import Glibc

/// A TCP socket on this machine, closed by its last owner. One thread reads and writes; any may shut it down.
package final class StreamSocket: Sendable {
    private let file: Int32

    private init(_ file: Int32) {
        self.file = file
        var one: Int32 = 1
        setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(file) }

    private static func fresh() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }

    private static func local(_ port: UInt16) -> sockaddr_in {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return place
    }

    private static func with<Result>(
        _ place: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Result
    ) -> Result {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
    }

    /// A listening socket, and its port.
    static func listening() throws -> (StreamSocket, UInt16) {
        let listener = StreamSocket(fresh())
        var place = local(0)
        let code = with(&place) { address, length in
            guard bind(listener.file, address, length) == 0, listen(listener.file, 128) == 0 else { return Int32(-1) }
            return getsockname(listener.file, address, &length)
        }
        guard code == 0 else { throw BrokenPromise("no port can be had: \(String(cString: strerror(errno)))") }
        return (listener, UInt16(bigEndian: place.sin_port))
    }

    /// A port on which nothing listens.
    package static func freePort() throws -> UInt16 { try listening().1 }

    /// - Returns: Nil if nothing listens there.
    package static func connected(to port: UInt16) -> StreamSocket? {
        let one = StreamSocket(fresh())
        var place = local(port)
        return with(&place) { connect(one.file, $0, $1) } == 0 ? one : nil
    }

    /// Waits for the next client; nil if it is shut down.
    func accepted() -> StreamSocket? {
        while true {
            let next = cl_accept4(file, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
            if next >= 0 { return StreamSocket(next) }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// Some bytes; none at the end, or if it is broken.
    func read(most: Int = 1 << 16) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            var got = 0
            repeat { got = recv(file, buffer.baseAddress, buffer.count, 0) } while got < 0 && errno == EINTR
            count = max(0, got)
        }
    }

    /// - Returns: False if the other side is gone.
    @discardableResult
    func write(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(file, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Ends all reads and waits.
    func shutDown() { shutdown(file, Int32(SHUT_RDWR)) }

    /// From now on closing it is a reset: bytes that the other side has not read are lost.
    func resetAtTheEnd() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(file, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Returns when the other side has closed it.
    func waitForTheEnd() { while !read().isEmpty {} }
}
