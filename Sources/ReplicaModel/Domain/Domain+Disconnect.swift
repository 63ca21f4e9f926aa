internal import Threads

extension Domain {
    /// Stops all calls to the store until ``connect()``; local content remains usable (statement 25). Survives restarts
    /// and power cuts, unless it is temporary. The last call wins.
    /// - Parameters:
    ///   - reason: One line for the user.
    ///   - isTemporary: Whether the next start ends it: for the time in which the store or this program is replaced.
    /// - Throws: The database's error; then nothing changes.
    package func disconnect(reason: String, isTemporary: Bool = false) throws {
        try replica.database.write { try Meta.disconnected.write(isTemporary ? nil : reason, to: $0) }
        try replica.database.makeDurable()
        engine.state.withLock { $0.disconnected = Disconnection(reason: reason, isTemporary: isTemporary) }
        wakeSignal.signal()
    }

    /// Ends a disconnection; waiting work continues (statement 25).
    package func connect() throws {
        try replica.database.write { try Meta.disconnected.write(nil, to: $0) }
        try replica.database.makeDurable()
        engine.state.withLock { state in
            state.disconnected = nil
            state.storeFailure = nil
            state.pulls.isWanted = true
        }
        engine.pause.stop()
        engine.retryAll()
    }

    /// Why, and until when, the domain is disconnected; nil if it is not.
    package var disconnectedReason: String? { engine.state.withLock { $0.disconnected?.words } }
}
