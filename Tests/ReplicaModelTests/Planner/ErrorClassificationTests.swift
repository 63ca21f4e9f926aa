import SystemPackage
import Testing

@testable import ReplicaModel

/// Which items each error affects.
@Suite struct ErrorClassificationTests {
    @Test func onlyErrorsOfTheStoreStopEverything() {
        let all: [RemoteStoreError] = [.serverUnreachable, .notAuthenticated, .insufficientQuota, .readOnly]
        for error in all { #expect(error.classification.reach == .store) }
        let one: [RemoteStoreError] = [
            .itemUnavailable(""), .malformedAnswer(""), .cannotSynchronize(""), .unsupported(""), .excludedFromSync,
            .filenameCollision(nil), .versionConflict(nil), .deletionRejected(nil), .noSuchItem(.root), .cancelled,
            .directoryNotEmpty(.root), .versionNoLongerAvailable, .syncAnchorExpired, .unanswered,
        ]
        for error in one { #expect(error.classification.reach == .item) }
    }

    @Test func errorsAfterWhichTheCallMayHaveSucceededAreUncertain() {
        for error in [RemoteStoreError.serverUnreachable, .cancelled, .malformedAnswer(""), .unanswered] {
            #expect(!error.classification.isCertain)
        }
        let certain: [RemoteStoreError] = [
            .itemUnavailable(""), .insufficientQuota, .readOnly, .notAuthenticated, .filenameCollision(nil),
            .cannotSynchronize(""),
            .unsupported(""), .excludedFromSync, .syncAnchorExpired, .noSuchItem(.root), .deletionRejected(nil),
            .directoryNotEmpty(.root), .versionNoLongerAvailable, .versionConflict(nil),
        ]
        for error in certain {
            #expect(error.classification.isCertain)
        }
    }

    @Test func onlySomeLocalErrorsConcernOneItem() {
        for errno in [Errno.fileTooLarge, .fileNameTooLong, .invalidArgument, .argListTooLong] {
            #expect(errno.isOfItem)
        }
        for errno in [Errno.noSpace, .readOnlyFileSystem, .resourceBusy, .noSuchFileOrDirectory] {
            #expect(!errno.isOfItem)
        }
        for errno in [Errno.noSpace, .quotaExceeded, .readOnlyFileSystem, .tooManyOpenFiles, .resourceBusy] {
            #expect(errno.isOfAll)
        }
        for errno in [Errno.noSuchFileOrDirectory, .fileExists, .stale, .notDirectory, .directoryNotEmpty] {
            #expect(!errno.isOfAll)
        }
    }
}
