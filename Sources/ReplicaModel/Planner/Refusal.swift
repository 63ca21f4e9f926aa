internal import SystemPackage

/// What an error of the store says of other items and of the call (MODEL.md#errors).
struct Refusal: Hashable, Sendable {
    /// Whose trouble it is.
    enum Reach: Hashable, Sendable {
        /// The item's alone: the others go on.
        case item
        /// Every item would meet it: all wait.
        case store
    }

    var reach: Reach
    /// Whether the call certainly did nothing.
    var isCertain: Bool
}

extension RemoteStoreError {
    /// The table of all errors.
    var refusal: Refusal {
        switch self {
        case .serverUnreachable, .busy: Refusal(reach: .store, isCertain: false)
        case .notAuthenticated, .insufficientQuota, .readOnly: Refusal(reach: .store, isCertain: true)
        case .cancelled, .malformedAnswer: Refusal(reach: .item, isCertain: false)
        case .cannotSynchronize, .unsupported, .excludedFromSync, .itemUnavailable, .filenameCollision,
            .syncAnchorExpired, .noSuchItem, .deletionRejected, .directoryNotEmpty, .versionNoLongerAvailable,
            .versionConflict:
            Refusal(reach: .item, isCertain: true)
        }
    }
}

extension Failure {
    /// Whether it stops what changes the store, and nothing else: that the store can be read says nothing of it then.
    var isOfChanges: Bool {
        code == RemoteStoreError.insufficientQuota.code || code == RemoteStoreError.readOnly.code
    }
}

extension Errno {
    /// Whether a change of the store met this because of what it is, and not because of the disk or the moment: the others
    /// go on, and it is looked at again later.
    var isOfItem: Bool {
        switch self {
        case .fileTooLarge, .invalidArgument, .fileNameTooLong, .outOfRange, .argListTooLong, .overflow, .notSupported,
            .ioError, .permissionDenied, .notPermitted, .isDirectory, .tooManySymbolicLinkLevels:
            true
        default: false
        }
    }
}
