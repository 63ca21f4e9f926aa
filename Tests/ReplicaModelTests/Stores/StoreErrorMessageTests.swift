import Testing

@testable import ReplicaModel

/// What a person is told of each error of a store.
@Suite struct StoreErrorMessageTests {
    @Test(arguments: [
        (RemoteStoreError.notAuthenticated, "the store wants a login"),
        (.filenameCollision(nil), "the store has something else of this name"),
        (.syncAnchorExpired, "the store no longer knows what it told before"),
        (.insufficientQuota, "the store has no room left"),
        (.readOnly, "the store is read-only"), (.serverUnreachable, "the store can't be reached"),
        (.noSuchItem(ItemIdentifier("x")), "the store has it no longer"),
        (.deletionRejected(nil), "the store keeps it"),
        (.directoryNotEmpty(ItemIdentifier("x")), "the store's folder is not empty"),
        (.cannotSynchronize("a bad name"), "a bad name"),
        (.itemUnavailable("x: it is locked"), "x: it is locked"),
        (.malformedAnswer("a name is empty"), "the store's answer cannot be used: a name is empty"),
        (.versionNoLongerAvailable, "the store has another content by now"),
        (.excludedFromSync, "the store says that it is to stay on this machine"),
        (.versionConflict(nil), "it was changed in the store too"), (.cancelled, "it was broken off"),
        (.unsupported("no symlinks here"), "no symlinks here"),
    ])
    func eachIsASentence(error: RemoteStoreError, message: String) {
        #expect(error.message == message)
    }
}
