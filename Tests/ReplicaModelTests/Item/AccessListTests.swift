import Testing

@testable import ReplicaModel

/// The effect of an ACL on a mode's group bits.
@Suite struct AccessListTests {
    /// Entries of tag and rights; the named user or group is number 7.
    private func list(_ entries: [(tag: UInt8, rights: UInt8)]) -> [UInt8] {
        [2, 0, 0, 0] + entries.flatMap { [$0.tag, 0, $0.rights, 0, 7, 0, 0, 0] }
    }

    @Test func theGroupsModeIsItsEntryLimitedByTheMask() throws {
        let table: [(group: UInt8, mask: UInt8?, status: UInt16, mode: UInt16)] = [
            (4, 7, 0o670, 0o640), (7, 4, 0o640, 0o640), (0, 7, 0o4670, 0o4600), (6, 6, 0o664, 0o664),
            (5, nil, 0o750, 0o750),
        ]
        for row in table {
            var entries: [(UInt8, UInt8)] = [(0x01, 6), (0x02, 7), (0x04, row.group), (0x08, 7)]
            row.mask.map { entries.append((0x10, $0)) }
            entries.append((0x20, 4))
            #expect(try #require(AccessList(list(entries))).mode(row.status) == row.mode)
        }
    }

    @Test func aDownloadedModeSetsThreeEntriesAndExtendsTheMask() throws {
        let table: [(group: UInt8, mask: UInt8, mode: UInt16, newGroup: UInt8, newMask: UInt8)] = [
            (4, 7, 0o600, 0, 7), (4, 7, 0o664, 6, 7), (4, 4, 0o664, 6, 6), (7, 0, 0o705, 0, 0),
        ]
        for row in table {
            let before = list([(0x01, 6), (0x02, 7), (0x04, row.group), (0x10, row.mask), (0x20, 4)])
            let after = try #require(AccessList(before)).with(mode: row.mode)
            let owner = UInt8(row.mode >> 6)
            #expect(
                after.bytes
                    == list([
                        (0x01, owner), (0x02, 7), (0x04, row.newGroup), (0x10, row.newMask),
                        (0x20, UInt8(row.mode & 7)),
                    ]))
            #expect(after.mode(row.mode) == row.mode, "it comes back as it came")
        }
    }

    @Test func anInvalidListIsRejected() {
        let whole = list([(0x01, 6), (0x04, 4), (0x20, 4)])
        #expect(AccessList(whole) != nil)
        for count in 0..<whole.count { #expect(AccessList(Array(whole.prefix(count))) == nil) }
        #expect(AccessList([3] + whole.dropFirst()) == nil)
        #expect(AccessList(whole + [1]) == nil)
        #expect(AccessList(list([(0x01, 6), (0x02, 4), (0x20, 4)])) == nil, "without the group's entry")
        // The maximum length of an attribute, with nonexistent rights.
        let long = list(Array(repeating: (0x02, 255), count: 8191) + [(0x04, 255)])
        #expect(AccessList(long) == nil)
        #expect(AccessList(list([(0x01, 255), (0x04, 255), (0x20, 255)]))?.mode(0) == 0o070)
    }
}
