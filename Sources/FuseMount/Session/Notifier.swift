/// Tells the kernel what changed behind its back.
///
/// Any thread may call; nothing waits: a thread of its own sends, in order. Still, a notification can wait in the
/// kernel for a lock that a running request holds, so a request must never be answered only after "its" notification
/// went through. What the kernel doesn't know is ignored.
public final class Notifier: @unchecked Sendable {
    /// Drops a node's cached attributes and the pages of a range.
    /// - Parameters:
    ///   - offset: negative for attributes only.
    ///   - length: 0 for all behind `offset`.
    public func invalidateInode(_ node: NodeID, offset: Int64 = 0, length: Int64 = 0) { fatalError() }

    /// Drops what the kernel knows of a name, present or absent.
    public func invalidateEntry(parent: NodeID, name: [UInt8]) { fatalError() }

    /// Like ``invalidateEntry(parent:name:)``, and tells inotify watchers that `child` was deleted.
    public func deleteEntry(parent: NodeID, child: NodeID, name: [UInt8]) { fatalError() }

    /// Has the name looked up again at its next use, without dropping what is below it.
    public func expireEntry(parent: NodeID, name: [UInt8]) { fatalError() }

    /// Calls `body` on the notifier's thread when all that was queued before is sent, or the mount is gone.
    public func afterQueued(_ body: @escaping @Sendable () -> Void) { fatalError() }
}
