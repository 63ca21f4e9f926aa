import Testing

@testable import ReplicaModel

/// The message for each error of a store.
@Suite struct StoreErrorMessageTests {
    @Test(arguments: [
        (RemoteStoreError.notAuthenticated, "the store requires a login"),
        (.filenameCollision(nil), "the store has another item with this name"),
        (.syncAnchorExpired, "the store's change history has expired"),
        (.insufficientQuota, "the store is full"),
        (.readOnly, "the store is read-only"), (.serverUnreachable, "the store can't be reached"),
        (.noSuchItem(ItemIdentifier("x")), "it no longer exists in the store"),
        (.deletionRejected(nil), "the store refused to delete it"),
        (.directoryNotEmpty(ItemIdentifier("x")), "the store's folder is not empty"),
        (.cannotSynchronize("a bad name"), "a bad name"),
        (.itemUnavailable("x: it is locked"), "x: it is locked"),
        (.malformedAnswer("a name is empty"), "invalid answer from the store: a name is empty"),
        (.unanswered, "the store does not answer"), (.versionNoLongerAvailable, "the content in the store has changed"),
        (.excludedFromSync, "the store excludes it from syncing"),
        (.versionConflict(nil), "it was also changed in the store"), (.cancelled, "it was cancelled"),
        (.unsupported("no symlinks here"), "no symlinks here"),
    ])
    func eachMessageIsASentence(error: RemoteStoreError, message: String) {
        #expect(error.message == message)
    }
}
