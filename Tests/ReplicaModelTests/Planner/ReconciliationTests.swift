import Testing

@testable import ReplicaModel

/// Every pair of changes, with every set of fields that the planner distinguishes.
@Suite struct ReconciliationTests {
    private static let fieldSets: [ItemFields] = [
        .contents, .filename, .parent, .place, .mode, [.contents, .mode], [.contents, .filename], [.filename, .mode],
        [.contents, .place, .modificationDate], .all,
    ]

    private static let changes: [Change] = [.none, .created, .deleted] + fieldSets.map(Change.changed)

    private struct Case {
        var local: Change
        var remote: Change
        var holds: Bool
        var plan: Reconciliation
    }

    private static let cases: [Case] = changes.flatMap { local in
        changes.flatMap { remote in
            [true, false].map { holds in
                Case(
                    local: local, remote: remote, holds: holds,
                    plan: reconcile(local: local, remote: remote, holdsContent: holds))
            }
        }
    }

    private static func fields(_ change: Change) -> ItemFields {
        if case .changed(let fields) = change { fields } else { [] }
    }

    @Test func localContentIsNeverOverwrittenWithoutACopy() {
        for one in Self.cases where Self.fields(one.local).contains(.contents) {
            guard case .update(let down) = one.plan.down, down.contains(.contents) else { continue }
            #expect(one.plan.keepsCopy, "\(one)")
        }
    }

    @Test func onlyRemoteDeletionsOfUnchangedItemsAreApplied() {
        for one in Self.cases where one.plan.down == .delete {
            #expect(one.remote == .deleted, "\(one)")
            #expect(one.local == .none || !one.holds && !Self.fields(one.local).contains(.contents), "\(one)")
        }
    }

    @Test func onlyLocalDeletionsOfUnchangedItemsAreSent() {
        for one in Self.cases where one.plan.up == .delete {
            #expect(one.local == .deleted, "\(one)")
            #expect(!Self.fields(one.remote).contains(.contents), "\(one)")
        }
    }

    @Test func oneSidedChangesAreApplied() {
        for fields in Self.fieldSets {
            #expect(
                reconcile(local: .none, remote: .changed(fields), holdsContent: true)
                    == Reconciliation(down: .update(fields), up: .nothing))
            #expect(
                reconcile(local: .changed(fields), remote: .none, holdsContent: true)
                    == Reconciliation(down: .nothing, up: .modify(fields)))
        }
    }

    @Test func theStoresPlaceAndContentAndTheLocalMetadataWin() {
        for one in Self.cases {
            guard case .changed(let ours) = one.local, case .changed(let theirs) = one.remote else { continue }
            var down: ItemFields = []
            if case .update(let fields) = one.plan.down { down = fields }
            #expect(down.isSuperset(of: theirs.subtracting(.metadata)), "\(one)")
            #expect(down.isDisjoint(with: ours.intersection(.metadata)), "\(one)")
            guard case .modify(let up) = one.plan.up else { continue }
            #expect(up.isSubset(of: ours), "\(one)")
            #expect(up.isDisjoint(with: down), "nothing goes both ways: \(one)")
        }
    }

    /// An item that was renamed here and moved in the store gets the store's place and name: a mixture would be a place
    /// that no user chose.
    @Test func ofTwoMovesTheStoresWins() {
        for (ours, theirs) in [(ItemFields.filename, ItemFields.parent), (.parent, .filename)] {
            #expect(
                reconcile(local: .changed(ours), remote: .changed(theirs), holdsContent: true)
                    == Reconciliation(down: .update(theirs), up: .nothing))
        }
    }

    @Test func locallyDeletedAndRemotelyChangedItemsComeBack() {
        for fields in Self.fieldSets {
            let plan = reconcile(local: .deleted, remote: .changed(fields), holdsContent: false)
            #expect(plan.down == (fields.contains(.contents) ? .bringBack : .nothing))
        }
        #expect(reconcile(local: .deleted, remote: .created, holdsContent: false).down == .bringBack)
    }

    @Test func anEditOfARemotelyDeletedItemCreatesItAgain() {
        for fields in Self.fieldSets {
            let up = reconcile(local: .changed(fields), remote: .deleted, holdsContent: true).up
            #expect(up == .create(.deletionConflicted))
        }
    }

    @Test func unchangedItemsNeedNothing() {
        for pair in [(Change.none, Change.none), (.deleted, .deleted)] {
            let plan = reconcile(local: pair.0, remote: pair.1, holdsContent: true)
            #expect(plan == Reconciliation(down: .nothing, up: .nothing))
        }
        #expect(reconcile(local: .created, remote: .created, holdsContent: true).down == .meet)
    }
}
