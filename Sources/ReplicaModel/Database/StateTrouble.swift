/// This computer's database or tree failed while the store's changes were recorded: that says nothing about the store.
struct StateTrouble: Error, Hashable {
    /// One line for the user.
    var message: String

    /// - Parameter what: `read` or `written`.
    static func ofDatabase(_ what: String, _ error: any Error) -> StateTrouble {
        StateTrouble(message: "the database cannot be \(what): \(error)")
    }
}

/// Why the store's changes could not be received.
enum ReceiveFailure: Error {
    case store(RemoteStoreError)
    case here(StateTrouble)

    /// A call of the store in a flow that may fail here too.
    static func asking<Value>(
        _ body: () async throws(RemoteStoreError) -> Value
    ) async throws(ReceiveFailure) -> Value {
        do throws(RemoteStoreError) { return try await body() } catch { throw .store(error) }
    }

    /// A step of such a flow that makes no call.
    static func recording<Value>(_ body: () throws(StateTrouble) -> Value) throws(ReceiveFailure) -> Value {
        do throws(StateTrouble) { return try body() } catch { throw .here(error) }
    }
}
