/// Why an item is not in sync, and when it is retried.
struct Failure: Hashable {
    /// A ``RemoteStoreError/code``.
    var code: String
    /// For the user; may name paths, never secrets.
    var message: String
    var attempts: Int
    /// Seconds since 1970; nil if it waits for the user or an edit.
    var retryAt: Double?
}
