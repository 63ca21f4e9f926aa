import Foundation
import Glibc
import ReplicaControl
import ReplicaModel

extension DomainRequestHandler {
    /// The domain, as `replica status` shows it.
    func status() throws -> DomainStatus {
        let report = try domain.report()
        var status = DomainStatus(
            name: daemon.location.name.text, store: daemon.location.record.store,
            directory: ControlFilePath(daemon.location.state), state: DomainState(report.state))
        status.mountpoint = daemon.mountpoint.map(ControlFilePath.init)
        status.heldMount = daemon.heldMount
        status.pid = getpid()
        status.version = programVersion
        status.reason = report.reason
        if report.state == .offline, let trouble = daemon.storeTrouble { status.reason = trouble }
        status.nextTry = report.nextTry?.date
        status.pending = report.pending
        status.errors = report.errors
        status.conflicts = report.conflicts
        status.items = report.items
        status.bytes = report.bytes
        status.materializedBytes = report.bytesHere
        status.localOnly = report.localOnly
        status.kept = report.kept
        status.progress = TransferProgress(report)
        return status
    }

    /// Runs `body`, and sends its progress every half second until it ends.
    /// - Parameter isForStability: Whether it waits until the domain is in step: while it does not continue, the reason is
    ///   sent.
    func working<Value: Sendable>(
        _ events: EventSink, isForStability: Bool = false,
        _ body: @escaping @Sendable (RequestProgress) async throws -> Value
    ) async throws -> Value {
        let work = RequestProgress()
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body(work) }
            group.addTask {
                var former: TransferProgress?
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(500))  // Cancelled when the body has ended.
                    guard !Task.isCancelled, let report = work.report() else { continue }
                    var progress = TransferProgress(report)
                    let isStuck = former?.itemsDone == progress.itemsDone && former?.bytesDone == progress.bytesDone
                    former = progress
                    // Without it the wait goes on all the same.
                    if isForStability, isStuck { progress.reason = try? reasonForWaiting() }
                    try await events.send(.progress(progress))
                }
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    /// Why the domain cannot get in sync.
    private func reasonForWaiting() throws -> String? {
        let status = try status()
        switch status.state {
        case .offline, .disconnected, .held:
            return [status.state.rawValue, status.reason].compactMap(\.self).joined(separator: ": ")
        default:
            guard let errors = status.errors, errors > 0 else { return nil }
            return "\(errors) with errors: see 'replica pending \(status.name)'"
        }
    }

    /// Sends the progress of transfers, if there are any.
    private func sendProgress(_ events: EventSink) async throws {
        if let progress = TransferProgress(try domain.report()) { try await events.send(.progress(progress)) }
    }

    /// Sends events until the client disconnects.
    func watch(_ events: EventSink) async throws {
        let stream = domain.events()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in stream { try await events.send(.change(ChangeEvent(event))) }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: .seconds(1))
                    try await self.sendProgress(events)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension EventSink {
    /// Sends a part of a list.
    func send(items: [ItemReport]) async throws { try await send(.items(items.map(ItemStatus.init))) }
}

extension DomainState {
    init(_ state: DomainReport.State) {
        self =
            switch state {
            case .importing: .importing
            case .syncing: .syncing
            case .idle: .idle
            case .offline: .offline
            case .disconnected: .disconnected
            case .held: .held
            }
    }
}

extension TransferProgress {
    /// Both directions together; nil if nothing is being transferred.
    init?(_ report: DomainReport) {
        let transfers = [report.uploads, report.downloads].compactMap(\.self)
        guard let first = transfers.first else { return nil }
        self.init(transfers.dropFirst().reduce(first, +))
    }

    init(_ report: TransferReport) {
        self.init(
            itemsDone: report.itemsDone, itemsTotal: report.itemsTotal, bytesDone: report.bytesDone,
            bytesTotal: report.bytesTotal, bytesPerSecond: report.bytesPerSecond,
            itemsPerSecond: report.itemsPerSecond, secondsLeft: report.secondsLeft,
            counting: report.isCounting ? true : nil)
    }
}

extension Timestamp {
    /// The time for JSON.
    var date: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}

extension ChangeEvent {
    init(_ event: DomainEvent) {
        self.init(
            date: event.date.date, kind: event.kind.rawValue, path: event.path.map(ControlPath.init),
            detail: event.detail)
    }
}
