/// The options of a domain.
package struct DomainOptions: Sendable, Hashable {
    /// Seconds for which an edit is debounced, so that many saves are one upload.
    package var settle = 1.0
    /// The most bytes of content kept locally; nil for no limit.
    package var cacheLimit: Int64?
    /// The least bytes to leave free on the filesystem below; nil for none.
    package var minimumFree: Int64?
    /// Seconds after which a fetch without progress is given up.
    package var stallTimeout = 60.0
    /// Whether programs may do only what the store's capabilities allow, and get EACCES or EPERM otherwise. If not,
    /// capabilities are only shown, and the store rejects what it does not allow (MODEL.md#items, "gating").
    package var enforcesCapabilities = false
    /// Whether set-user-ID and set-group-ID bits are replicated like the other bits of a mode. Everybody who can write
    /// to the store then gets the rights of the local owner, which is root if root imported the directory.
    package var trustsSetID = false
    var privileges: Privileges { Privileges(trustsSetID: trustsSetID) }

    /// Whether calls are made one after the other, for a simulator that decides what happens when.
    var isSequential = false
    /// ``MassDeletionGuard/mostDeletions``, which simulated domains are too small for.
    var mostDeletions = MassDeletionGuard.mostDeletions

    package init() {}
}
