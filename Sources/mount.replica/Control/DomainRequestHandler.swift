import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Answers the control socket's requests using the domain (docs/CONTROL.md).
struct DomainRequestHandler: ControlRequestHandler {
    let daemon: any ControlledDaemon

    init(_ daemon: any ControlledDaemon) {
        self.daemon = daemon
    }

    var domain: Domain { daemon.domain }

    func answer(_ request: ControlRequest, events: EventSink) async throws -> ControlAnswer {
        do { return try await carryOut(request, events) } catch {
            throw FailureText(request: request, domain: daemon.location.name).failure(error)
        }
    }

    private func carryOut(_ request: ControlRequest, _ events: EventSink) async throws -> ControlAnswer {
        switch request {
        case .hello, .status, .item, .find, .pending, .materialized, .conflicts, .watch:
            return try await tell(request, events)
        case .resolve, .download, .evict, .forget, .pin, .unpin, .reimport, .resend:
            return try await change(request, events)
        case .connect, .disconnect, .wait, .retry, .approve, .restore, .resolved:
            return try await direct(request, events)
        case .mount(let path, let options):
            try await daemon.mount(at: path.path, options: options)
            return .done
        case .unmount(let flush):
            if flush {
                try await working(events, isForStability: true) { try await domain.waitForStabilization(work: $0) }
            }
            try await daemon.unmount()
            return .done
        case .remove(let keep): return .removed(try await daemon.remove(keep: keep))
        }
    }

    /// Requests for information.
    private func tell(_ request: ControlRequest, _ events: EventSink) async throws -> ControlAnswer {
        switch request {
        case .hello:
            return .daemon(
                DaemonStatus(
                    name: daemon.location.name.text, pid: getpid(),
                    mountpoint: daemon.mountpoint.map(ControlFilePath.init)))
        case .status: return .domain(try status())
        case .item(let path): return .item(ItemStatus(try await domain.item(at: path.fileNames())))
        case .find(let id): return .item(try find(ItemIdentifier(id)))
        case .pending(let anchor): return try await tell(.pending, since: anchor, events)
        case .materialized(let anchor): return try await tell(.materialized, since: anchor, events)
        case .conflicts: try await tellConflicts(events)
        default: try await watch(events)
        }
        return .done
    }

    /// Operations on items.
    private func change(_ request: ControlRequest, _ events: EventSink) async throws -> ControlAnswer {
        switch request {
        case .resolve(let path, let keep):
            try await domain.resolve(path.fileNames(), keep: ConflictSide(keep))
        case .download(let path, _, true?, let wait): try await downloadAll(path.fileNames(), wait, events)
        case .download(let path, let range, _, let wait):
            try await download(path.fileNames(), range.map { try Range($0) }, wait, events)
        case .evict(let path, let strict):
            let names = try path.fileNames()
            return try await working(events) {
                .evicted(EvictionResult(try await domain.evict(names, isStrict: strict, work: $0)))
            }
        case .forget(let path):
            let names = try path.fileNames()
            return try await working(events) { .evicted(EvictionResult(try await domain.forget(names, work: $0))) }
        case .pin(let path, true?):
            let names = try path.fileNames()
            try say(try await working(events) { try await domain.pinAndDownload(names, work: $0) })
        case .pin(let path, _): try await domain.pin(path.fileNames())
        case .unpin(let path): try await domain.unpin(path.fileNames())
        case .reimport(let path): try await domain.reimport(below: path.fileNames())
        case .resend(let path, let fields): try await resend(path.fileNames(), fields)
        default: throw ControlFailure(.wrongProtocol, "the daemon does not know this request")
        }
        return .done
    }

    /// Operations on syncing as a whole.
    private func direct(_ request: ControlRequest, _ events: EventSink) async throws -> ControlAnswer {
        switch request {
        case .connect: try domain.connect()
        case .disconnect(let reason, let isTemporary):
            try domain.disconnect(reason: reason, isTemporary: isTemporary ?? false)
        case .wait(let path):
            let names = try path.fileNames()
            try await working(events, isForStability: true) {
                if names.isEmpty {
                    try await domain.waitForStabilization(work: $0, isShown: true)
                } else {
                    try await domain.waitForChanges(below: names, work: $0)
                }
            }
        case .retry(nil): domain.retry()
        case .retry(let path?): try await domain.retry(path.fileNames())
        case .approve:
            guard domain.approve() != nil else { throw ControlFailure(.refused, nothingHeld) }
        case .restore: return try restore()
        case .resolved(let code):
            do throws(Errno) {
                try domain.resolved(code)
            } catch {
                let names = Domain.resolvable.sorted().joined(separator: ", ")
                throw ControlFailure(.usage, "'\(code)' is not an error that can be resolved; these are: \(names)")
            }
        default: throw ControlFailure(.wrongProtocol, "the daemon does not know this request")
        }
        return .done
    }

    private var nothingHeld: String { "\(daemon.location.name): no deletion is held" }

    private func restore() throws -> ControlAnswer {
        guard let done = try domain.restore() else { throw ControlFailure(.refused, nothingHeld) }
        guard done.items > 0 else {
            let why = "none of the held items is local; 'replica approve' deletes them"
            throw ControlFailure(.refused, "\(daemon.location.name): \(why)")
        }
        return .restored(RestorationResult(items: done.items, left: done.left))
    }

    private func resend(_ path: [FileName], _ names: [String]?) async throws {
        let fields: ItemFields
        if let names {
            fields = try names.reduce(into: []) { fields, name in fields.insert(try ItemFields(name: name)) }
        } else {
            let isHere = try await domain.item(at: path).materialization == .whole
            fields = isHere ? .all : .all.subtracting(.contents)
        }
        try await domain.requestModification(of: fields, at: path)
    }

    private func download(
        _ path: [FileName], _ range: Range<Int64>?, _ waits: Bool, _ events: EventSink
    ) async throws {
        guard waits else { return try await domain.download(path, range: range, waits: false) }
        try await working(events) { try await domain.download(path, range: range, waits: true, work: $0) }
    }

    private func downloadAll(_ path: [FileName], _ waits: Bool, _ events: EventSink) async throws {
        try say(try await working(events) { try await domain.downloadAll(below: path, waits: waits, work: $0) })
    }

    /// - Throws: If something could not be downloaded.
    private func say(_ done: Download) throws {
        guard let first = done.failed.first else { return }
        let others = done.failed.count > 1 ? ", and \(done.failed.count - 1) more" : ""
        let why = FailureText(request: .item(path: ControlPath(first.path)), domain: daemon.location.name)
            .failure(first.errno)
        throw ControlFailure(why.code, "\(why.message)\(others); the rest was downloaded")
    }
}
