/// The options of a domain.
package struct DomainOptions: Sendable, Hashable {
    /// Seconds for which an edit is debounced, so that many saves are one upload.
    package var settleSeconds = 1.0
    /// The maximum number of bytes of content kept locally; nil for no limit.
    package var cacheLimit: Int64?
    /// The minimum number of bytes to leave free on the backing filesystem; nil for none.
    package var minimumFree: Int64?
    /// Seconds between pulls from a store that sends no signals.
    package var pullIntervalSeconds = 60.0
    /// Seconds after which a fetch without progress is aborted.
    package var stallTimeoutSeconds = 60.0
    /// Seconds after which any other call of the store without progress is aborted.
    package var answerTimeoutSeconds = 300.0
    /// Whether the store's capabilities are enforced for programs, with EACCES or EPERM. If not, they are only shown,
    /// and the store itself rejects what it does not allow (MODEL.md#items).
    package var enforcesCapabilities = false
    /// Whether set-user-ID and set-group-ID bits are replicated like the other bits of a mode. All users who can write
    /// to the store then get the rights of the local owner, which is root if root imported the directory.
    package var trustsSetID = false
    var privileges: Privileges { Privileges(trustsSetID: trustsSetID) }

    /// Whether calls are made sequentially, for a simulator that controls their order.
    var isSequential = false
    /// ``MassDeletionGuard/mostDeletions``, which simulated domains are too small for.
    var mostDeletions = MassDeletionGuard.mostDeletions

    package init() {}
}
