import Foundation
import Glibc
import ReplicaControl
import ReplicaModel

extension ControlService {
    /// The domain, as `replica status` shows it.
    func status() throws -> DomainStatus {
        let report = try domain.report()
        var status = DomainStatus(
            name: daemon.location.name.text, store: daemon.location.record.store,
            directory: ControlFilePath(daemon.location.state), state: DomainState(report.state))
        status.mountpoint = daemon.mountpoint.map(ControlFilePath.init)
        status.heldMount = daemon.heldMount
        status.pid = getpid()
        status.reason = report.reason
        status.nextTry = report.nextTry?.date
        status.pending = report.pending
        status.errors = report.errors
        status.conflicts = report.conflicts
        status.items = report.items
        status.bytes = report.bytes
        status.materializedBytes = report.bytesHere
        status.localOnly = report.localOnly
        status.progress = TransferProgress(report)
        return status
    }

    /// Sends how far the transfers are, every half second, while `body` runs.
    func withProgress<Value: Sendable>(
        _ events: EventSink, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await reporting {
            try await self.sendProgress(events)
        } during: {
            try await body()
        }
    }

    /// Runs `body`, and `report` every half second until it ends.
    private func reporting<Value: Sendable>(
        _ report: @escaping @Sendable () async throws -> Void,
        during body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(500))  // Cancelled when the body has ended.
                    if !Task.isCancelled { try await report() }
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

    /// Like ``withProgress(_:_:)``, for what counts itself.
    func working<Value: Sendable>(
        _ events: EventSink, _ body: @escaping @Sendable (Work) async throws -> Value
    ) async throws -> Value {
        let work = Work()
        let begin = ContinuousClock.now
        return try await reporting {
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            if let progress = TransferProgress(work.items, after: seconds) {
                try await events.send(.progress(progress))
            }
        } during: {
            try await body(work)
        }
    }

    private func sendProgress(_ events: EventSink) async throws {
        if let progress = TransferProgress(try domain.report()) { try await events.send(.progress(progress)) }
    }

    /// Tells what happens until the client is gone.
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
    /// Both directions together; nil when nothing is carried.
    init?(_ report: DomainReport) {
        let transfers = [report.uploads, report.downloads].compactMap(\.self)
        guard let first = transfers.first else { return nil }
        let all = transfers.dropFirst().reduce(first, +)
        self.init(
            itemsDone: all.itemsDone, itemsTotal: all.itemsTotal, bytesDone: all.bytesDone, bytesTotal: all.bytesTotal,
            bytesPerSecond: all.bytesPerSecond, itemsPerSecond: all.itemsPerSecond, secondsLeft: all.secondsLeft)
    }
}

extension TransferProgress {
    /// Items alone; nil while nothing is known of them.
    init?(_ items: Work.Counts, after seconds: Double) {
        guard items.total > 0, seconds > 0 else { return nil }
        let rate = Double(items.done) / seconds
        self.init(
            itemsDone: items.done, itemsTotal: items.total, bytesDone: 0, bytesTotal: 0, itemsPerSecond: rate,
            secondsLeft: items.done > 0 ? Double(items.total - items.done) / rate : nil)
    }
}

extension Timestamp {
    /// The time as JSON has it.
    var date: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}

extension ChangeEvent {
    init(_ event: DomainEvent) {
        self.init(
            date: event.date.date, kind: event.kind.rawValue, path: event.path.map(ControlPath.init),
            detail: event.detail)
    }
}
