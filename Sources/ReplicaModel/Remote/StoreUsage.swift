/// The space of a store for this user, in bytes: what df(1) shows of the mount.
///
/// A store may report anything, so the numbers are made consistent: none is negative, `used` is at most `total`, and `free` at
/// most the rest.
public struct StoreUsage: Hashable, Sendable {
    /// The quota, or the size of the storage; more than 0.
    public let total: Int64
    public let used: Int64
    /// What this user can still store. Less than `total` minus `used` if the storage reserves space.
    public let free: Int64

    /// - Parameters:
    ///   - total: The quota, or the size of the storage; if nil, it is the sum of the others.
    ///   - used: If nil, everything that is not free.
    ///   - free: If nil, everything that is not used.
    /// - Returns: Nil if fewer than two are known. Negative numbers count as unknown: some servers send them for "unlimited".
    public init?(total: Int64? = nil, used: Int64? = nil, free: Int64? = nil) {
        let total = Self.known(total)
        var (used, free) = (Self.known(used), Self.known(free))
        guard used != nil || free != nil, let all = total ?? Self.sum(used, free), all > 0 else { return nil }
        used = min(used ?? all - min(free ?? 0, all), all)
        free = min(free ?? .max, all - (used ?? 0))
        (self.total, self.used, self.free) = (all, used ?? 0, free ?? 0)
    }

    private static func known(_ number: Int64?) -> Int64? { number.flatMap { $0 < 0 ? nil : $0 } }

    private static func sum(_ used: Int64?, _ free: Int64?) -> Int64? {
        guard let used, let free else { return nil }
        return used.saturatingAdd(free)
    }
}

extension StoreUsage {
    /// The space in blocks, as statvfs(3) reports it.
    /// - Parameters:
    ///   - free: Including blocks that are reserved for others.
    ///   - block: The size of a block in bytes.
    package init?(blocks: UInt64, free: UInt64, available: UInt64, of block: UInt64) {
        func bytes(_ count: UInt64) -> Int64 {
            let (product, isTooFar) = count.multipliedReportingOverflow(by: block)
            return isTooFar ? .max : Int64(clamping: product)
        }
        let total = bytes(blocks)
        self.init(total: total, used: total - min(total, bytes(free)), free: bytes(available))
    }
}
