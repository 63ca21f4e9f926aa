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
    /// Whether programs may do only what the store's capabilities allow: EACCES or EPERM then. Else capabilities guide
    /// those who ask for them, and the store answers for what it refuses (MODEL.md#items, "gating").
    package var enforcesCapabilities = false
    /// Whether set-user-ID and set-group-ID bits come from the store and go there, as the other bits of a mode do. Whoever
    /// may write the store then gets the rights of the owner here, which is root where root's directory was imported.
    package var trustsSetID = false
    var privileges: Privileges { Privileges(trustsSetID: trustsSetID) }

    /// Whether calls are made one after the other, for a simulator that decides what happens when.
    var isSequential = false
    /// ``MassDeletionGuard/mostDeletions``, which simulated domains are too small for.
    var mostDeletions = MassDeletionGuard.mostDeletions

    package init() {}
}
