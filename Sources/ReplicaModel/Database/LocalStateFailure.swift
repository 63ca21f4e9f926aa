/// This computer's database or tree failed while the store's changes were recorded: that says nothing about the store.
struct LocalStateFailure: Error, Hashable {
    /// One line for the user.
    var message: String

    /// - Parameter what: `read` or `written`.
    static func ofDatabase(_ what: String, _ error: any Error) -> LocalStateFailure {
        LocalStateFailure(message: "the database cannot be \(what): \(error)")
    }
}
