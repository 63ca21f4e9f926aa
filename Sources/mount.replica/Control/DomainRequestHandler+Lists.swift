import ReplicaControl
import ReplicaModel

extension DomainRequestHandler {
    /// The item with this identifier in the store.
    func find(_ identifier: ItemIdentifier) throws -> ItemStatus {
        guard let report = try domain.item(identifiedBy: identifier) else {
            throw ControlFailure(.noSuchItem, "\(daemon.location.name): no item here has the id '\(identifier)'")
        }
        return ItemStatus(report)
    }

    /// Sends the items of a set; with an anchor, the additions and removals since then, and the anchor for the next request.
    func tell(_ set: ItemSet, since anchor: String?, _ events: EventSink) async throws -> ControlAnswer {
        guard let anchor, !anchor.isEmpty else {
            // Changes during the read come after the anchor.
            let start = try anchor.map { _ in try domain.anchor(of: set) }
            try await domain.forEach(in: set) { try await events.send(items: $0) }
            return start.map(ControlAnswer.init) ?? .done
        }
        var point = SyncAnchor(anchor)
        while true {
            try Task.checkCancellation()
            let changes = try domain.changes(of: set, since: point)
            if !changes.entered.isEmpty { try await events.send(items: changes.entered) }
            if !changes.left.isEmpty { try await events.send(.left(changes.left.map(DepartureStatus.init))) }
            point = changes.anchor
            if !changes.moreComing { return ControlAnswer(point) }
        }
    }

    /// Sends the unresolved conflicts.
    func tellConflicts(_ events: EventSink) async throws {
        let conflicts = try domain.conflicts().map(ConflictStatus.init)
        for start in stride(from: 0, to: conflicts.count, by: 256) {
            try await events.send(.conflicts(Array(conflicts[start..<min(start + 256, conflicts.count)])))
        }
    }
}

extension ControlAnswer {
    fileprivate init(_ anchor: SyncAnchor) { self = .anchor(String(decoding: anchor.bytes, as: UTF8.self)) }
}

extension DepartureStatus {
    fileprivate init(_ departure: ItemSetChanges.Departure) {
        self.init(
            path: departure.path.map(ControlPath.init), id: departure.identifier?.rawValue,
            number: departure.number.rawValue)
    }
}
