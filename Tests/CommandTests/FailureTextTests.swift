import Glibc
import ReplicaControl
import SystemPackage
import Testing

@testable import ReplicaModel
@testable import mount_replica

/// The exact message of a failed request.
@Suite struct FailureTextTests {
    private static let path = ControlPath(bytes: "a/b".utf8)

    private func failure(_ error: any Error, of request: ControlRequest) throws -> ControlFailure {
        FailureText(request: request, domain: try DomainName("photos")).failure(error)
    }

    @Test(
        arguments: [
            (Errno.noSuchFileOrDirectory, ExitReason.noSuchItem, "no such item"),
            (.notDirectory, .noSuchItem, "no such item: a parent is not a folder"),
            (.permissionDenied, .denied, "permission denied, or the store requires a login"),
            (.notPermitted, .denied, "operation not permitted"), (.resourceBusy, .busy, "it is in use"),
            (.notSupported, .unsupported, "not supported by the store or this system"),
            (.noFunction, .unsupported, "not supported by the store or this system"),
            (.noRouteToHost, .offline, "the store can't be reached"),
            (.networkUnreachable, .offline, "the store can't be reached"),
            (.networkDown, .offline, "the domain is disconnected; see 'replica connect'"),
            (.interrupted, .interrupted, "the request was cancelled"),
            (.noSpace, .failed, "no space is left on this disk"),
            (Errno(rawValue: EDQUOT), .failed, "a quota is exceeded, here or in the store"),
            (.readOnlyFileSystem, .failed, "this disk is read-only"),
            (.fileTooLarge, .failed, "it is larger than this disk allows"),
            (Errno(rawValue: Glibc.ESTALE), .failed, "it was replaced in the meantime: try again"),
            (.ioError, .failed, "it could not be read or written; daemon.log may say why"),
            (.tooManyOpenFiles, .failed, "Too many open files"),
        ] as [(Errno, ExitReason, String)])
    func eachErrnoHasAMessageWithThePath(errno: Errno, code: ExitReason, words: String) throws {
        let requests: [ControlRequest] = [
            .item(path: Self.path), .resolve(path: Self.path, keep: .both),
            .download(path: Self.path, range: nil, recursive: nil, wait: true), .evict(path: Self.path, strict: true),
            .forget(path: Self.path), .pin(path: Self.path), .unpin(path: Self.path), .reimport(path: Self.path),
            .resend(path: Self.path, fields: nil), .wait(path: Self.path), .retry(path: Self.path),
        ]
        for request in requests {
            #expect(try failure(errno, of: request) == ControlFailure(code, "photos:a/b: \(words)"))
        }
        for request in [ControlRequest.status, .pending(since: "7.9"), .wait(path: .root), .retry(path: nil), .connect]
        {
            #expect(try failure(errno, of: request) == ControlFailure(code, "photos: \(words)"))
        }
    }

    @Test(
        arguments: [
            (
                .resolve(path: path, keep: .local), .invalidArgument,
                "there is no conflict; see 'replica conflicts'"
            ),
            (.forget(path: path), .invalidArgument, "only a folder can be forgotten; 'replica evict' is for files"),
            (.resend(path: path, fields: nil), .noData, "the content is not local, or it is not a file"),
            (.resend(path: path, fields: ["mode"]), .invalidArgument, "it has no such field"),
        ] as [(ControlRequest, Errno, String)])
    func someErrnosHaveAMessageForTheirRequest(request: ControlRequest, errno: Errno, words: String) throws {
        #expect(try failure(errno, of: request) == ControlFailure(.refused, "photos:a/b: \(words)"))
    }

    @Test func errorsOfOtherTypesHaveMessages() throws {
        let request = ControlRequest.wait(path: Self.path)
        let own = ControlFailure(.busy, "/mnt is in use by bash (7)")
        #expect(try failure(own, of: request) == own)
        #expect(
            try failure(CancellationError(), of: request)
                == ControlFailure(.interrupted, "the request was cancelled"))
        let parked = ItemError(code: "cannotSynchronize", message: "a bad name", attempts: 1, retryAt: nil)
        #expect(
            try failure(parked, of: request)
                == ControlFailure(.refused, "photos:a/b: a bad name (cannotSynchronize)"))
        #expect(
            try failure(RemoteStoreError.syncAnchorExpired, of: .pending(since: nil))
                == ControlFailure(.failed, "photos: the store's change history has expired"))
        #expect(
            try failure(RemoteStoreError.syncAnchorExpired, of: .materialized(since: "7.9"))
                == ControlFailure(
                    .anchorExpired,
                    "photos: the anchor has expired or belongs to another list; start again with --since ''"))
    }
}
