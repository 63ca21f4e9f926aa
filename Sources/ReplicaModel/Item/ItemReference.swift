/// Names the item that a call is for.
package protocol ItemReference: Sendable {
    var number: ItemNumber { get }
    /// The lower 20 bits of the only generation that is meant: if the item has another one by then, the call fails with
    /// ESTALE. Nil for the item in any.
    var generation: UInt32? { get }
}

extension ItemReference {
    func isMeant(_ current: UInt32) -> Bool { generation.map { $0 == current & KernelItem.mask } ?? true }
}

extension ItemNumber: ItemReference {
    package var number: ItemNumber { self }
    package var generation: UInt32? { nil }
}

/// An item as the kernel knows it. The kernel allowed the call by the attributes of the backing file that the item had in
/// this generation: the call must reach no other, so the generation is compared under the same lock as the call is made.
package struct KernelItem: ItemReference {
    /// The bits of a generation that a node ID of the kernel contains.
    static let mask: UInt32 = 1 << 20 - 1

    package let number: ItemNumber
    package let generation: UInt32?

    package init(_ number: ItemNumber, generation: UInt32) {
        self.number = number
        self.generation = generation & Self.mask
    }
}
