/// The engine's next action for an item.
enum UploadStep: Sendable {
    case send(OutgoingCall)
    case wait(Readiness)
    /// These files' contents and folders' listings have to be fetched first.
    case fetch([ItemNumber])
}
