/// An item as reported to the kernel: its inode number and attributes.
package struct KernelEntry: Sendable {
    package var number: ItemNumber
    /// Increased when another file takes the item's place in the backing tree while the kernel knows it: a new inode to
    /// the kernel.
    package var generation: UInt32
    package var status: FileStatus
    /// Whether the attributes may be cached: false while a program writes to the backing file directly.
    package var isSteady: Bool
}
