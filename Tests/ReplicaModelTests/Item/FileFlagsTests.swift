import CLinux
import Testing

@testable import ReplicaModel

/// The meaning of chattr(1)'s flags, with the numbers of each request.
@Suite struct FileFlagsTests {
    private func flags(_ request: FlagRequest, _ bits: UInt32) -> FileFlags {
        FileFlags(request, withUnsafeBytes(of: bits) { Array($0) })
    }

    @Test(arguments: [
        (FlagRequest.setFlags, UInt32(0), false), (.setFlags, 0x10, true), (.setFlags, 0x20, true),
        (.setFlags, 0xC8, false), (.setFlags, 0x4000, false), (.setExtended, 0x8, true), (.setExtended, 0x10, true),
        (.setExtended, 0x20, false),
    ]) func immutableFlagsAreRecognized(_ request: FlagRequest, _ bits: UInt32, _ freezes: Bool) {
        #expect(flags(request, bits).freezes == freezes)
    }

    /// Journaled data is for root: the filesystem would check our own rights.
    @Test(arguments: [
        (UInt32(0), UInt32(0x40), true), (0, 0x4000, false), (0x4000, 0, false), (0x4000, 0x4040, true),
        (0x80000, 0x800C8, true),
    ]) func anOwnerMaySetOnlySomeFlags(_ now: UInt32, _ new: UInt32, _ isAllowed: Bool) {
        #expect(flags(.flags, now).mayBecome(flags(.setFlags, new)) == isAllowed)
    }

    @Test func aTruncatedAttributeHasNoFlags() {
        #expect(FileFlags(.setFlags, [0x10]).bits == 0)
    }
}
