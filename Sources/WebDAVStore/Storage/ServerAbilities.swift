import PathStore

/// What a server does, tried on files of the store's own: many ignore a condition, and answer as if it held.
/// Large: an answer of the trial in each field.
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
    /// MKCOL where a folder is already is refused.
    var makesExclusively = false
    /// Whether folders are made that what is put or moved there needs.
    var makesParents = false
    /// Whether names may have control characters.
    var takesControls = false
    /// Whether exactly one of several concurrent creates succeeded.
    var createsInOneStep = false
    /// Of many replacements.
    var replacesInOneStep = false
    /// Of many moves to one place.
    var movesInOneStep = false
    /// Whether a file is unchanged after its upload was interrupted.
    var writesWhole = false
    /// Whether PROPFIND returns the ETags of files.
    var hasTags = false
    /// Whether a content that replaced another of its size within a second had another version.
    var isExact = false
    /// Whether properties of the store's own are kept, under the same ETag.
    var keepsProperties = false
    /// Whether all files and folders have numbers that they keep (``Resource/Cloud``).
    var hasNumbers = false
    /// Whether a folder's ETag is another when anything below it is.
    var foldersTellChanges = false
    var fetchesRanges = false
    var isCaseSensitive = true

    /// How a file is made where nothing is.
    enum Creation: Hashable {
        /// By a condition.
        case conditional
        /// Beside it, and then moved there.
        case moved
        /// After a look.
        case looked
    }

    var creation: Creation {
        if writesWhole, createsConditionally { return .conditional }
        return keepsTargets ? .moved : .looked
    }

    /// What a storage with these can do.
    var properties: PathStorageProperties {
        var properties = PathStorageProperties()
        let isCreate: Bool =
            switch creation {
            case .conditional: createsInOneStep
            case .moved: movesInOneStep
            case .looked: false
            }
        properties.createStrength = isCreate ? .atomic : .checked
        properties.replaceStrength = writesWhole && replacesConditionally && replacesInOneStep ? .atomic : .checked
        // A folder goes with all that came into it since the look.
        properties.removeStrength = .checked
        properties.moveStrength = keepsTargets && movesConditionally && movesInOneStep ? .atomic : .checked
        properties.changeGrain = hasTags && isExact ? 0 : 2_000_000_000
        properties.keepsModes = keepsProperties
        properties.keepsModificationDates = keepsProperties
        // A mark would be noted after the file is there.
        properties.keepsMarks = false
        properties.keepsSymlinks = false
        properties.hasIdentities = hasNumbers
        properties.foldersTellChanges = foldersTellChanges
        properties.fetchesRanges = fetchesRanges
        properties.isCaseSensitive = isCaseSensitive
        properties.concurrency = 16
        return properties
    }
}
