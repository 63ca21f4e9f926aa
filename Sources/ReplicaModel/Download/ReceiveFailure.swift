/// Why the store's changes could not be received.
enum ReceiveFailure: Error {
    case store(RemoteStoreError)
    case here(LocalStateFailure)

    /// A call of the store in a flow that may fail here too.
    static func asking<Value>(
        _ body: () async throws(RemoteStoreError) -> Value
    ) async throws(ReceiveFailure) -> Value {
        do throws(RemoteStoreError) { return try await body() } catch { throw .store(error) }
    }

    /// A step of such a flow that makes no call.
    static func recording<Value>(_ body: () throws(LocalStateFailure) -> Value) throws(ReceiveFailure) -> Value {
        do throws(LocalStateFailure) { return try body() } catch { throw .here(error) }
    }
}
