public import Glibc

/// The answer to statx(2): the attributes and, if known, the time of birth.
public struct BirthStatus: Sendable {
    public var attributes: Attributes
    public var birth: Glibc.timespec?
    /// How long this stays valid, in seconds.
    public var timeout: Double

    public init(attributes: Attributes, birth: Glibc.timespec?, timeout: Double) {
        self.attributes = attributes
        self.birth = birth
        self.timeout = timeout
    }
}
