import PathStore
import ReplicaModel

/// Why a call of a store's process has no result.
enum CallFailure: Error {
    /// The error that the store returned.
    case error(WireError)
    /// There is no answer, or no usable one, for the given reason.
    case unreachable(String)
    /// The store can't be used at all now.
    case store(StoreFailure)
    /// The sink did not take the bytes.
    case sink(RemoteStoreError)
    /// The local disk can't hold the content to be sent, for the given reason.
    case spool(String)
    /// The content to be sent is not as declared, for the given reason.
    case contents(String)
    case cancelled
}

extension PathStorageError {
    init(_ failure: CallFailure) {
        switch failure {
        case .error(let error): self.init(error)
        case .unreachable(let text): self = .unreachable(text)
        case .store(.notAuthenticated(let text)): self = .notAuthenticated(text)
        case .store(.busy(let pause, _)): self = .busy(seconds: pause)
        case .store(let failure): self = .unreachable(failure.message)
        case .sink(.cancelled), .cancelled: self = .cancelled
        case .sink(let error): self = .unavailable(error.message)
        case .spool(let text): self = .unavailable(text)
        case .contents(let text): self = .refused(text)
        }
    }

    private init(_ error: WireError) {
        let text = error.text ?? error.code
        switch error.code {
        case "notFound": self = .notFound
        case "taken": self = .taken(error.entry?.entry)
        case "changed": self = .changed(error.entry?.entry)
        case "notEmpty": self = .notEmpty
        case "notAuthenticated": self = .notAuthenticated(text)
        case "insufficientQuota": self = .insufficientQuota(text)
        case "readOnly": self = .readOnly(text)
        case "busy": self = .busy(seconds: error.pause)
        case "itemUnavailable": self = .unavailable(text)
        case "cannotSynchronize": self = .refused(text)
        case "unsupported": self = .unsupported(text)
        case "cancelled": self = .cancelled
        default: self = .unreachable(text)
        }
    }
}

extension RemoteStoreError {
    /// - Parameter identifier: The item of the call.
    init(_ failure: CallFailure, _ identifier: ItemIdentifier) {
        switch failure {
        case .error(let error): self.init(error, identifier)
        case .unreachable, .store(.unreachable), .store(.untrustedServer): self = .serverUnreachable
        case .store(.busy(let pause, _)): self = .busy(seconds: pause)
        case .store(.notAuthenticated): self = .notAuthenticated
        case .store(.refused(let text)): self = .cannotSynchronize(text)
        case .sink(let error): self = error
        case .spool(let text): self = .itemUnavailable(text)
        case .contents(let text): self = .cannotSynchronize(text)
        case .cancelled: self = .cancelled
        }
    }

    private init(_ error: WireError, _ identifier: ItemIdentifier) {
        let (text, item) = (error.text ?? error.code, error.item?.item)
        let named = error.of.map(ItemIdentifier.init) ?? identifier
        switch error.code {
        case "notAuthenticated": self = .notAuthenticated
        case "filenameCollision": self = .filenameCollision(item)
        case "syncAnchorExpired": self = .syncAnchorExpired
        case "insufficientQuota": self = .insufficientQuota
        case "readOnly": self = .readOnly
        case "noSuchItem": self = .noSuchItem(named)
        case "deletionRejected": self = .deletionRejected(item)
        case "directoryNotEmpty": self = .directoryNotEmpty(named)
        case "cannotSynchronize": self = .cannotSynchronize(text)
        case "itemUnavailable": self = .itemUnavailable(text)
        case "versionNoLongerAvailable": self = .versionNoLongerAvailable
        case "excludedFromSync": self = .excludedFromSync
        case "versionConflict": self = .versionConflict(item)
        case "cancelled": self = .cancelled
        case "unsupported": self = .unsupported(text)
        default: self = .serverUnreachable
        }
    }
}
