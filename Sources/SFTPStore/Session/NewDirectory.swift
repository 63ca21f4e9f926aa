/// The directory of a new store, before there is a session with it.
package struct NewDirectory: Sendable {
    private let address: SFTPAddress
    private let command: SSHCommand
    private let limits: ConnectionLimits

    package init(
        _ address: SFTPAddress, command: SSHCommand = SSHCommand(), limits: ConnectionLimits = ConnectionLimits()
    ) {
        (self.address, self.command, self.limits) = (address, command, limits)
    }

    /// Whether the server has nothing at its path.
    package func isMissing() async throws(SFTPFailure) -> Bool {
        // The folder that a login begins in is there.
        guard !address.path.isEmpty else { return false }
        return try await connected { (connection) async throws(RequestFailure) in
            do throws(RequestFailure) { _ = try await connection.send(.stat(address.path)).attributes() } catch {
                guard case .status(let status) = error, status.code == .noSuchFile else { throw error }
                return true
            }
            return false
        }
    }

    /// Creates it, for its owner alone. Only the last folder of its path: another one that is missing may be a disk that is
    /// not mounted.
    package func make() async throws(SFTPFailure) {
        try await connected { (connection) async throws(RequestFailure) in
            try await connection.send(.makeFolder(address.path, mode: 0o700)).done()
        }
    }

    /// Removes it, if it is empty.
    package func remove() async throws(SFTPFailure) {
        try await connected { (connection) async throws(RequestFailure) in
            try await connection.send(.removeFolder(address.path)).done()
        }
    }

    /// Calls `body` with a connection of its own.
    private func connected<Value>(
        _ body: (SFTPConnection) async throws(RequestFailure) -> Value
    ) async throws(SFTPFailure) -> Value {
        let connection = try SFTPConnection(address, command, limits)
        defer { connection.letGo() }
        guard let outcome = await connection.hello.value() else { throw .unreachable("\(address): cancelled") }
        _ = try outcome.get()
        do throws(RequestFailure) { return try await body(connection) } catch {
            throw SFTPFailure(
                error, of: address,
                missing: .refused("\(address): the directory above \(address.shownPath) does not exist there"))
        }
    }
}
