internal import SystemPackage

/// What a store's error means for other items and about the call (MODEL.md#errors).
struct ErrorClassification: Hashable, Sendable {
    /// The items that the error affects.
    enum Reach: Hashable, Sendable {
        /// Only this item; the others continue.
        case item
        /// Every item: all of them wait.
        case store
    }

    var reach: Reach
    /// Whether the call certainly had no effect.
    var isCertain: Bool
}

extension RemoteStoreError {
    /// The table of all errors.
    var classification: ErrorClassification {
        switch self {
        case .serverUnreachable, .busy: ErrorClassification(reach: .store, isCertain: false)
        case .notAuthenticated, .insufficientQuota, .readOnly: ErrorClassification(reach: .store, isCertain: true)
        case .cancelled, .malformedAnswer, .unanswered: ErrorClassification(reach: .item, isCertain: false)
        case .cannotSynchronize, .unsupported, .excludedFromSync, .itemUnavailable, .filenameCollision,
            .syncAnchorExpired, .noSuchItem, .deletionRejected, .directoryNotEmpty, .versionNoLongerAvailable,
            .versionConflict:
            ErrorClassification(reach: .item, isCertain: true)
        }
    }
}

extension Failure {
    /// Whether it affects only changes of the store: then it is no evidence that the store can be read.
    var isOfChanges: Bool {
        code == RemoteStoreError.insufficientQuota.code || code == RemoteStoreError.readOnly.code
    }

    /// Whether the store may still be readable despite this failure: it accepts no changes or does not answer them, is busy,
    /// this computer's disk is full or its database fails, or nobody waited for its answer.
    var leavesStoreReadable: Bool {
        let others: [RemoteStoreError] = [.busy(seconds: 0), .unanswered, .cancelled]
        return isOfChanges || isHere || others.contains { $0.code == code }
    }

    /// Whether this computer failed, not the store.
    var isHere: Bool { [Self.fullDisk, Self.state].contains(code) }

    /// The code of the failure that the disk with the domain's state is full. No store's error has it.
    static let fullDisk = "noSpace"
    /// The code of other failures of the domain's state. No store's error has it.
    static let state = "stateFailure"
}

extension Errno {
    /// Whether a change failed because of the item itself, rather than because of the disk or a temporary condition:
    /// the others continue, and it is retried later.
    var isOfItem: Bool {
        switch self {
        case .fileTooLarge, .invalidArgument, .fileNameTooLong, .outOfRange, .argListTooLong, .overflow, .notSupported,
            .ioError, .permissionDenied, .notPermitted, .isDirectory, .tooManySymbolicLinkLevels:
            true
        default: false
        }
    }

    /// Whether a change failed because of the disk or a lack of resources: another change would fail as well. Or because a call
    /// for the item is still being made, which may take long.
    var isOfAll: Bool {
        switch self {
        case .noSpace, .quotaExceeded, .readOnlyFileSystem, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory,
            .resourceBusy, .interrupted, .resourceTemporarilyUnavailable:
            true
        default: false
        }
    }
}
