import ArgumentParser
import ReplicaControl

/// `replica unmount`.
struct Unmount: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Unmount a domain and stop its daemon. Pending changes stay pending and are reported.")

    @Argument(help: "The domain, or the directory it is mounted on.", completion: .target)
    var target: String
    @Flag(help: "Upload pending changes first.")
    var flush = false
    @Flag(help: "Only unmount the mount of a daemon that is gone; otherwise do nothing.")
    var dead = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let domain = try (dead ? Domains().named(target) : mounted())
        if dead {
            guard try DaemonConnection.ifRunning(domain) == nil else { return }
            if try DeadMount.unmount(domain) { try output.done("the dead mount of \(domain.name) is unmounted") }
            return
        }
        guard let client = try DaemonConnection.ifRunning(domain) else {
            guard try DeadMount.unmount(domain) else {
                throw ControlFailure(.notRunning, "\(domain.name) is not mounted and has no daemon")
            }
            return try output.done("\(domain.name) is unmounted; its daemon was not running")
        }
        let pending = flush ? nil : try pendingItems(client)
        let daemon = client.daemonProcess.flatMap { ProcessEnd(of: $0) }
        _ = try client.request(.unmount(flush: flush), onEvent: output.event)
        // Until then, it writes to the state, and a copy would not be complete; or its disk can't be unmounted.
        if StateLock.awaitFree(state: domain.state, seconds: Self.endTimeoutSeconds) {
            // Its last threads end right after that, unless it is a process that does something else as well.
            _ = daemon?.wait(seconds: Self.lastThreadsSeconds)
        } else {
            Output.complain("the daemon of \(domain.name) has not ended yet")
        }
        var line = "\(domain.name) is unmounted"
        if let pending, pending > 0 { line += "; \(Format.count(pending, "item")) not yet in the store" }
        try output.done(line)
    }

    private static let endTimeoutSeconds = 10.0
    private static let lastThreadsSeconds = 2.0

    /// The domain that is meant. A path inside a mount is rejected, as by umount(8).
    private func mounted() throws -> DomainLocation {
        let (found, _) = try Target.domainOrItem(target)
        guard found.path == .root else {
            let name = found.domain.name
            throw ControlFailure(
                .usage, "\(target) is inside the domain \(name): 'replica unmount \(name)' unmounts it")
        }
        return found.domain
    }

    /// How much is not uploaded yet; nil if unknown, which does not prevent unmounting.
    /// - Throws: `timedOut` if the daemon does not answer.
    private func pendingItems(_ client: ControlClient) throws -> Int? {
        do {
            guard case .domain(let status) = try client.request(.status) else { return nil }
            return status.pending
        } catch let failure as ControlFailure where failure.code == .timedOut {
            throw failure
        } catch {
            Output.complain("pending changes cannot be determined: \(error)")
            return nil
        }
    }
}
