/// What a path-keyed storage can keep and do.
public struct PathStorageProperties: Hashable, Sendable, Codable {
    /// How a condition holds while other clients write.
    public enum Strength: String, Hashable, Sendable, Codable {
        /// The storage tests it and acts in one step.
        case atomic
        /// It is looked at right before the act: another client's change in between is overwritten.
        case checked
        /// It is not looked at.
        case none
    }

    /// Of ``WriteGuard/absent``, for files.
    public var createStrength: Strength = .atomic
    /// Of ``WriteGuard/version(_:)``.
    public var replaceStrength: Strength = .atomic
    public var removeStrength: Strength = .atomic
    public var moveStrength: Strength = .atomic
    /// Two writes closer than this many nanoseconds may leave the same version (git's racy index); 0 for exact versions.
    public var changeGrain: Int64 = 0
    public var keepsModes = true
    public var keepsModificationDates = true
    public var keepsMarks = true
    public var keepsSymlinks = true
    /// Whether ``PathEntry/identity`` is told of every entry, and is never used again for another.
    public var hasIdentities = false
    /// Whether a listing tells the attributes that are kept. Else only ``PathStorage/entry(at:)`` does.
    public var listsAttributes = true
    /// Whether ``PathStorage/list(_:isDeep:from:)`` can list all that is below.
    public var listsDeep = false
    public var fetchesRanges = true
    public var isCaseSensitive = true
    /// The longest name in bytes of UTF-8.
    public var longestName = 255
    /// How many calls it serves well at a time, 1 to 128.
    public var concurrency = 8

    /// The properties of a storage that keeps everything and whose conditions are atomic.
    public init() {}
}
