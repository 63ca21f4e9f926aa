import Testing

@testable import mount_replica

/// Who may access a store but not the imported directory.
@Suite struct StoreAccessNoteTests {
    private func reach(_ modes: [UInt32], groups: [UInt32]? = nil) -> Reach {
        Reach(zip(groups ?? modes.map { _ in 0 }, modes).map { Reach.Step(group: $0, mode: $1) })
    }

    @Test func allFoldersOfThePathAreChecked() {
        let table: [(modes: [UInt32], others: Bool, group: Bool)] = [
            ([0o755, 0o755], true, true), ([0o755, 0o700], false, false), ([0o700, 0o755], false, false),
            ([0o755, 0o750], false, true), ([0o750, 0o755], false, true), ([0o755, 0o705], true, false),
            ([0o755, 0o644], false, false),
        ]
        for row in table {
            let found = reach(row.modes)
            #expect(found.others == row.others && (found.group == 0) == row.group, "\(row)")
        }
        #expect(reach([0o750, 0o750], groups: [1, 2]).group == nil, "another group's folder is on the way")
        #expect(reach([0o751, 0o750], groups: [1, 2]).group == 2)
    }

    @Test func newReadersAreNamed() {
        let (closed, group, open) = (reach([0o700]), reach([0o750]), reach([0o755]))
        #expect(closed.whoElse(comesTo: closed) == nil)
        #expect(closed.whoElse(comesTo: group) == "group root")
        #expect(closed.whoElse(comesTo: open) == "everybody")
        #expect(group.whoElse(comesTo: open) == "everybody")
        #expect(group.whoElse(comesTo: group) == nil)
        #expect(open.whoElse(comesTo: group) == nil)
        #expect(open.whoElse(comesTo: closed) == nil)
    }
}
