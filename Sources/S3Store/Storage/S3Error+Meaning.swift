import ChildProcess
import HTTPStorage
import PathStore

extension S3Error {
    /// Why the bucket can't be used.
    func failure(_ address: S3Address) -> ServerFailure {
        switch self {
        case .failure(let failure): return failure
        case .silence(let text): return .unreachable(text)
        case .contentsEndEarly, .unwanted: return .cancelled
        case .complaint(let complaint):
            let text = SanitizedText.of("\(complaint.words)")
            if let login = complaint.login { return .notAuthenticated("\(login)") }
            if complaint.isBusy { return .busy(complaint.pause ?? 1) }
            switch complaint.code {
            case "NoSuchBucket": return .refused("the bucket \(address.bucket) does not exist there")
            case "PermanentRedirect", "TemporaryRedirect":
                return .refused("\(text): set the bucket's endpoint in the URL")
            case "AuthorizationHeaderMalformed", "InvalidBucketName", "AllAccessDisabled", "NotImplemented":
                return .refused(text)
            default: return .unreachable(text)
            }
        }
    }

    /// The storage's error for a call about a path.
    func meaning(_ address: S3Address, _ path: StoragePath, isChange: Bool) -> PathStorageError {
        guard case .complaint(let complaint) = self else {
            switch self {
            case .contentsEndEarly: return .refused("the content is shorter than declared")
            case .unwanted: return .cancelled
            default: return failure(address).storageError
            }
        }
        let text = SanitizedText.of("\(path): \(complaint.words)")
        switch complaint.code {
        case "AccessDenied": return isChange ? .refused(text) : .unavailable(text)
        // Never leads to a deletion: the bucket may come back.
        case "NoSuchBucket": return .unreachable("the bucket \(address.bucket) no longer exists there")
        case "NoSuchKey": return .notFound
        case "QuotaExceeded", "StorageFull", "InsufficientStorage", "XMinioStorageFull", "TooManyObjects":
            return .insufficientQuota(text)
        case "KeyTooLongError", "KeyTooLong", "EntityTooLarge", "MetadataTooLarge", "InvalidObjectName",
            "XMinioInvalidObjectName", "XMinioObjectExistsAsDirectory", "XMinioParentIsObject":
            return .refused(text)
        case "InvalidObjectState": return .unavailable("\(text): it is archived")
        case "NotImplemented": return .unsupported(text)
        default:
            if complaint.status == 507 { return .insufficientQuota(text) }
            return failure(address).storageError
        }
    }

    /// A condition that was tested on this machine does not hold.
    static var preconditionFailed: S3Error { .complaint(S3Complaint(status: 412)) }

    /// Whether the server tested a condition and found that it does not hold.
    var isPreconditionFailed: Bool {
        guard case .complaint(let complaint) = self else { return false }
        return complaint.status == 412
    }

    /// Whether the server answered with S3's code for a missing object, or with no code at all, as answers to HEAD have
    /// none.
    var isNotFound: Bool {
        guard case .complaint(let complaint) = self, complaint.status == 404 else { return false }
        return complaint.code == "NoSuchKey" || complaint.code.isEmpty
    }
}

extension S3Complaint {
    /// What is wrong with the keys, if that is the cause.
    var login: String? {
        switch code {
        case "SignatureDoesNotMatch": "the server rejects this secret key"
        case "InvalidAccessKeyId": "the server does not know this access key"
        case "ExpiredToken", "TokenRefreshRequired": "the login has expired"
        case "InvalidToken": "the server rejects this session token"
        case "UserSuspended": "the server has suspended this user"
        case "AccessDenied", "AllAccessDisabled", "AccountProblem":
            "these keys lack the permission (\(SanitizedText.of(code)))"
        default: status == 401 ? "the server rejects this login" : nil
        }
    }

    /// Whether it is transient.
    var isBusy: Bool {
        status == 429 || status == 503 || status == 409
            || ["SlowDown", "RequestLimitExceeded", "Throttling", "TooManyRequests"].contains(code)
    }
}
