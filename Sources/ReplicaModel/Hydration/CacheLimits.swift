internal import Threads

/// The limits of cached content, which may change while the domain is served.
struct CacheLimits: Sendable, Hashable {
    /// As ``DomainOptions/cacheLimit``.
    var most: Int64?
    /// As ``DomainOptions/minimumFree``.
    var leastFree: Int64?

    var isNone: Bool { most == nil && leastFree == nil }

    /// Those that the domain is opened with.
    init(_ options: DomainOptions) { (most, leastFree) = (options.cacheLimit, options.minimumFree) }
}

extension SyncEngine {
    /// Notes when files are used, which is only needed to choose those that are evicted.
    func recordUse() {
        guard !limits.withLock({ $0.isNone }) else { return }
        replica.withTree { $0.store.recordsUse = true }
    }
}

extension Domain {
    /// Changes the limits of cached content. What exceeds them is evicted soon, as far as it can be.
    /// - Parameters:
    ///   - most: As ``DomainOptions/cacheLimit``.
    ///   - leastFree: As ``DomainOptions/minimumFree``.
    package func limitCache(most: Int64?, leastFree: Int64?) {
        engine.limits.withLock { ($0.most, $0.leastFree) = (most, leastFree) }
        engine.recordUse()
    }
}
