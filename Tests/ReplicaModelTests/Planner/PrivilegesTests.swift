import Testing

@testable import ReplicaModel

/// The parts of a store's metadata that are accepted, and the parts of a local mode that are sent.
@Suite struct PrivilegesTests {
    @Test(
        arguments: [
            (0o755, 0o755, 0o755), (0o4755, 0o755, 0o4755), (0o2755, 0o755, 0o2755), (0o6777, 0o777, 0o6777),
            (0o1777, 0o1777, 0o1777), (0o7777, 0o1777, 0o7777), (0o104755, 0o755, 0o4755), (0, 0, 0),
        ] as [(UInt32, UInt16, UInt16)])
    func setIDBitsAreKept(_ mode: UInt32, _ plain: UInt16, _ trusted: UInt16) {
        let mode = UInt16(truncatingIfNeeded: mode)
        #expect(Privileges().replicated(mode) == plain)
        #expect(Privileges(trustsSetID: true).replicated(mode) == trusted)
    }

    @Test func untrustedBitsAreNotADifference() {
        #expect(!Privileges().isChange(0o755, of: 0o4755))
        #expect(!Privileges().isChange(0o6755, of: 0o755))
        #expect(Privileges().isChange(0o700, of: 0o4755))
        #expect(Privileges(trustsSetID: true).isChange(0o755, of: 0o4755))
    }

    @Test func onlyUserAttributesAreAccepted() {
        var metadata = ItemMetadata()
        metadata.mode = 0o6711
        metadata.extendedAttributes = [
            "user.a": [1], "security.capability": [2], "trusted.b": [3], "system.posix_acl_access": [4], "other": [5],
        ]
        for privileges in [Privileges(), Privileges(trustsSetID: true)] {
            #expect(privileges.taken(metadata).extendedAttributes == ["user.a": [1]])
        }
        #expect(Privileges().taken(metadata).mode == 0o711)
        #expect(Privileges().taken(ItemMetadata()) == ItemMetadata())
    }
}
