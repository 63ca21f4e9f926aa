/// Why a mount failed, in one line for the user.
public struct MountError: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
