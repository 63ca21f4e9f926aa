/// A disconnection that the user requested.
struct Disconnection {
    /// One line for the user.
    var reason: String
    /// Whether it ends with the next start.
    var isTemporary = false

    /// The reason, and when it ends if it ends by itself.
    var words: String { isTemporary ? "\(reason) (until the daemon is restarted)" : reason }
}
