import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Answers the control socket's requests over the domain.
struct ControlService: DomainService {
    private let daemon: Daemon

    init(_ daemon: Daemon) {
        self.daemon = daemon
    }

    func answer(_ request: ControlRequest, events: EventSink) async throws -> ControlAnswer {
        switch request {
        case .hello:
            return .daemon(
                DaemonStatus(
                    name: daemon.location.name.text, pid: getpid(),
                    mountpoint: daemon.mountpoint.map(ControlFilePath.init)))
        case .wait:
            try await daemon.domain.waitForStabilization()
            return .done
        case .unmount:
            try daemon.unmount()
            return .done
        case .mount(let path, let options):
            try daemon.mount(at: path.path, MountOptions(texts: options), isOnlyReason: false)
            return .done
        default: throw ControlFailure(.unsupported, "not yet")
        }
    }
}
