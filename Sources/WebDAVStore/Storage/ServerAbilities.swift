import PathStore

/// A server's features, tested with the store's own files: many servers ignore a condition and answer as if it held.
/// Large: a test result in each field.
package struct ServerAbilities: Hashable, Sendable, Codable {
    /// `If-None-Match: *` on PUT.
    var createsConditionally = false
    /// `If-Match` on PUT.
    var replacesConditionally = false
    /// `If-Match` on DELETE.
    var removesConditionally = false
    /// `If-Match` on MOVE.
    var movesConditionally = false
    /// `Overwrite: F` on MOVE.
    var keepsTargets = false
    /// MKCOL of an existing folder is refused.
    var makesExclusively = false
    /// Whether missing parent folders are created by PUT and MOVE.
    var makesParents = false
    /// Whether names may have control characters.
    var takesControls = false
    /// Whether exactly one of several concurrent creates succeeded.
    var createsInOneStep = false
    /// The same for replacements.
    var replacesInOneStep = false
    /// The same for moves to one target.
    var movesInOneStep = false
    /// Whether a file is unchanged after its upload was interrupted.
    var writesWhole = false
    /// Whether PROPFIND returns the ETags of files.
    var hasTags = false
    /// Whether the answer to PUT has the ETag that PROPFIND returns afterwards.
    var answersTags = false
    /// Whether replacing a content by another of the same size within a second changed the version.
    var isExact = false
    /// Whether the store's own properties are kept, without changing the ETag.
    var keepsProperties = false
    /// Whether all files and folders have permanent numbers (``Resource/Cloud``).
    var hasNumbers = false
    /// Whether a folder's ETag changes whenever anything below it changes.
    var foldersTellChanges = false
    var fetchesRanges = false
    var isCaseSensitive = true

    /// How a new file is created.
    enum Creation: Hashable {
        /// With a condition.
        case conditional
        /// Under a temporary name, and then moved.
        case moved
        /// After a check.
        case afterCheck
    }

    var creation: Creation {
        if writesWhole, createsConditionally { return .conditional }
        return keepsTargets ? .moved : .afterCheck
    }

    /// The properties of a storage with these features.
    var properties: PathStorageProperties {
        var properties = PathStorageProperties()
        let isCreate: Bool =
            switch creation {
            case .conditional: createsInOneStep
            case .moved: movesInOneStep
            case .afterCheck: false
            }
        properties.createStrength = isCreate ? .atomic : .checked
        properties.replaceStrength = writesWhole && replacesConditionally && replacesInOneStep ? .atomic : .checked
        // A folder is removed with everything that was added since the check.
        properties.removeStrength = .checked
        properties.moveStrength = keepsTargets && movesConditionally && movesInOneStep ? .atomic : .checked
        properties.changeGrain = hasTags && isExact ? 0 : 2_000_000_000
        properties.keepsModes = keepsProperties
        properties.keepsModificationDates = keepsProperties
        // A mark would only be set after the file is visible.
        properties.keepsMarks = false
        properties.keepsSymlinks = false
        properties.hasIdentities = hasNumbers
        properties.foldersTellChanges = foldersTellChanges
        properties.fetchesRanges = fetchesRanges
        properties.isCaseSensitive = isCaseSensitive
        properties.tellsUsage = true
        properties.concurrency = 16
        return properties
    }
}
