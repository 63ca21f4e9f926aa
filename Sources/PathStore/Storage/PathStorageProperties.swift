/// The features of a storage of paths. Large: a field for each property of the protocol.
package struct PathStorageProperties: Hashable, Sendable, Codable {
    /// How reliable a condition is while other clients write.
    package enum Strength: String, Hashable, Sendable, Codable {
        /// The storage checks it and acts in one step.
        case atomic
        /// It is checked immediately before: another client's change in between is overwritten.
        case checked
        /// It is not checked.
        case none
    }

    /// For ``WriteGuard/absent``, for files.
    package var createStrength: Strength = .atomic
    /// For ``WriteGuard/version(_:)``.
    package var replaceStrength: Strength = .atomic
    package var removeStrength: Strength = .atomic
    package var moveStrength: Strength = .atomic
    /// Two writes within this many nanoseconds may produce the same version (git's racy index); 0 for exact versions.
    package var changeGrain: Int64 = 0
    package var keepsModes = true
    package var keepsModificationDates = true
    package var keepsMarks = true
    package var keepsSymlinks = true
    /// Whether every entry has a ``PathEntry/identity`` that is never reused.
    package var hasIdentities = false
    /// Whether every folder, including the root, has a ``PathEntry/version`` that changes whenever anything in the
    /// folder or below it changes. Only if versions are exact.
    package var foldersTellChanges = false
    /// Whether a listing reports the attributes that are kept. Otherwise only ``PathStorage/entry(at:)`` does.
    package var listsAttributes = true
    /// Whether ``PathStorage/list(_:isDeep:from:)`` can list everything below a folder.
    package var listsDeep = false
    package var fetchesRanges = true
    /// Whether ``PathStorage/usage()`` may know the space.
    package var tellsUsage = false
    package var isCaseSensitive = true
    /// The longest name in bytes of UTF-8.
    package var longestName = 255
    /// The number of concurrent calls that it handles well, 1 to 128.
    package var concurrency = 8

    /// The properties of a storage that keeps everything and whose conditions are atomic.
    package init() {}
}
