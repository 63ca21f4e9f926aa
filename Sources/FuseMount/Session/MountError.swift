/// Why a mount did not come about, in one line for a person.
public struct MountError: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
