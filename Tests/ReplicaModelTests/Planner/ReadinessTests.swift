import Testing

@testable import ReplicaModel

/// Every combination of reasons that hold an item back.
@Suite struct ReadinessTests {
    private static let parent = ItemNumber(10)
    private static let ancestor = ItemNumber(11)
    private static let occupant = ItemNumber(12)
    private static let child = ItemNumber(13)
    private static let locals: [Change] = [
        .none, .created, .deleted, .changed(.contents), .changed(.filename), .changed(.parent), .changed(.all),
        .changed(.mode),
    ]

    private static let views: [PendingView] = locals.flatMap { local in
        (0..<128).map { bits in
            func has(_ bit: Int) -> Bool { bits & 1 << bit != 0 }
            return PendingView(
                local: local, unknownParent: has(0) ? parent : nil, movingAncestor: has(1) ? ancestor : nil,
                occupant: has(2) ? occupant : nil, remainingChild: has(3) ? child : nil, isBusy: has(4),
                notBefore: has(5) ? 200 : 100, isUnanswered: has(6), options: .mayAlreadyExist)
        }
    }

    @Test func reasonsAreCheckedInOrder() {
        for view in Self.views { #expect(readiness(of: view, now: 100) == Self.expected(view), "\(view)") }
    }

    /// The same table by result: the conditions of each answer.
    private static func expected(_ view: PendingView) -> Readiness {
        guard !view.isBusy else { return .busy }
        guard view.notBefore <= 100 else { return .later(view.notBefore) }
        guard !view.isUnanswered else { return .resolve }
        let place = [view.unknownParent, view.movingAncestor, view.occupant].compactMap { $0 }.first
        switch view.local {
        case .none: return .nothing
        case .deleted: return view.remainingChild == nil ? .delete : .waits(for: child)
        case .created: return place.map { .waits(for: $0) } ?? .create(.mayAlreadyExist)
        case .changed(let fields):
            let moves = !fields.isDisjoint(with: .place)
            return moves ? place.map { .waits(for: $0) } ?? .modify(fields) : .modify(fields)
        }
    }

    @Test func nothingIsCreatedInAnUnknownFolder() {
        for view in Self.views where view.unknownParent != nil {
            switch readiness(of: view, now: 100) {
            case .create: Issue.record("\(view)")
            case .modify(let fields): #expect(fields.isDisjoint(with: .place), "\(view)")
            default: break
            }
        }
    }

    @Test func aFolderIsDeletedAfterItsEntries() {
        for view in Self.views where view.remainingChild != nil {
            #expect(readiness(of: view, now: 100) != .delete, "\(view)")
        }
    }
}
