/// Makes a remote change through the mount, so that the kernel's caches and inotify's watchers learn of it
/// (MODEL.md#presentation): the daemon makes the system call at the mount, and recognizes its own request.
package protocol Presenter: Sendable {
    /// Makes the system call. Returns false if it could not be made; the change is then made directly in the backing
    /// tree.
    /// - Parameter ticket: The change that the call is for: its request hands it to ``Replica/performPresented(_:_:in:)``.
    func present(_ call: PresentedCall, _ ticket: PresentationTicket) -> Bool
    /// Invalidates a name and its folder's listing in the kernel. Must not be called with the replica's lock held.
    func invalidate(_ name: FileName, in folder: ItemNumber)
    /// Invalidates an item's attributes and content in the kernel. Must not be called with the replica's lock held.
    func invalidate(_ number: ItemNumber)
    /// Calls `body` when the kernel has carried out everything that was invalidated before.
    func afterInvalidations(_ body: @escaping @Sendable () -> Void)
}
