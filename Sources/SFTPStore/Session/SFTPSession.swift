import PathStore
import ReplicaModel
import Threads

/// A connection that is ready, with the server's features and the location of the store.
final class SFTPSession: Sendable {
    let connection: SFTPConnection
    /// The store's folder as an absolute path, without a slash at the end.
    let base: [UInt8]
    let sizes: TransferSizes
    let clock = ServerClock()
    let readOnlyFolders = ReadOnlyFolders()
    /// The test files for probing the server.
    let trials: [[UInt8]]
    private let hello: SFTPHello
    /// Limits the packets with contents in flight: more would not be faster, and would delay requests that a caller
    /// waits for.
    let transfers = ConcurrencyLimit(12)

    var address: SFTPAddress { connection.address }
    var syncs: Bool { hello.has("fsync@openssh.com") }
    var links: Bool { hello.has("hardlink@openssh.com") }
    var replaces: Bool { hello.has("posix-rename@openssh.com") }
    var copies: Bool { hello.has("copy-data") }
    var setsSymlinks: Bool { hello.has("lsetstat@openssh.com") }
    var tellsRoom: Bool { hello.has("statvfs@openssh.com", "2") }

    private init(_ connection: SFTPConnection, _ hello: SFTPHello, base: [UInt8], _ sizes: TransferSizes) {
        (self.connection, self.hello, self.base, self.sizes) = (connection, hello, base, sizes)
        trials = (0..<3).map { _ in base + [UInt8(ascii: "/")] + TemporaryName.fresh() }
    }

    /// Connects, and finds the store.
    static func open(
        _ address: SFTPAddress, _ command: SSHCommand, _ limits: ConnectionLimits
    ) async throws(SFTPFailure) -> SFTPSession {
        let connection = try SFTPConnection(address, command, limits)
        do throws(SFTPFailure) {
            return try await open(connection)
        } catch {
            connection.letGo()
            throw error
        }
    }

    private static func open(_ connection: SFTPConnection) async throws(SFTPFailure) -> SFTPSession {
        let address = connection.address
        guard let outcome = await connection.hello.value() else { throw .unreachable("\(address): cancelled") }
        let hello = try outcome.get()
        let limits = hello.has("limits@openssh.com") ? connection.send(.limits) : nil
        let path = address.path.isEmpty ? [UInt8(ascii: ".")] : address.path
        let shown = address.shownPath
        do throws(RequestFailure) {
            var sizes = TransferSizes()
            if let limits {
                let reply = try await limits.extended()
                do throws(MalformedPacket) { sizes = try TransferSizes(reply) } catch {
                    throw .lost(.unreachable("\(address): the server breaks the protocol: \(error.reason)"))
                }
            }
            var base = try await connection.send(.realPath(path)).path()
            guard base.first == UInt8(ascii: "/") else {
                throw .lost(.unreachable("\(address): the server does not resolve the path \(shown)"))
            }
            let attributes = try await connection.send(.stat(base)).attributes()
            guard attributes.isFolder else { throw .lost(.refused("\(address): \(shown) is not a directory there")) }
            while base.last == UInt8(ascii: "/") { base.removeLast() }
            return SFTPSession(connection, hello, base: base, sizes)
        } catch {
            throw SFTPFailure(
                error, of: address, missing: .missing("\(address): there is no directory \(shown) there"))
        }
    }

    func send(_ request: SFTPRequest) -> PendingReply { connection.send(request) }

    /// Whether it is a temporary file that was not written for this many seconds. Its content may have an old
    /// modification time; its access time tells when it was created.
    func isLeftover(_ name: SFTPReply.Name, after seconds: UInt32) -> Bool {
        guard TemporaryName.isOne(name.bytes), name.attributes.isFile, let times = name.attributes.times else {
            return false
        }
        return clock.hasPassed(UInt32(clamping: UInt64(max(times.access, times.modification)) + UInt64(seconds)))
    }

    /// The server's path of an entry of the store.
    func path(_ path: StoragePath) -> [UInt8] {
        if path == .root { return root }
        return path.names.reduce(into: base) { $0 += [UInt8(ascii: "/")] + $1.bytes }
    }

    /// The server's path of the store itself.
    var root: [UInt8] { base.isEmpty ? [UInt8(ascii: "/")] : base }
}
