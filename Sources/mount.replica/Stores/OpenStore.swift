import ReplicaModel

/// An open store, with its status and its end.
struct OpenStore: Sendable {
    var store: any RemoteStore
    /// Why it can't be used now, if more is known than the errors of its calls.
    var trouble: @Sendable () -> String? = { nil }
    /// Ends the processes and connections of the store.
    var close: @Sendable () async -> Void = {}
}

/// Why a store can't be opened now.
struct OpeningFailure: Error {
    /// The error of its calls.
    var error: RemoteStoreError
    /// One line for the user.
    var message: String
}
