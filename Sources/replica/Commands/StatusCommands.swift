import ArgumentParser
import Foundation
import Glibc
import ReplicaControl

/// What is known of a domain, with or without a daemon.
enum DomainReport {
    /// Asks the daemon; without one the domain is `stopped` and has no counts. `timeout` is in seconds.
    static func status(of domain: DomainLocation, timeout: Double? = nil) throws -> DomainStatus {
        do {
            if let client = try ControlClient.ifRunning(state: domain.state),
                case .domain(let status) = try client.request(.status, timeout: timeout)
            {
                return status
            }
        } catch let failure as ControlFailure where failure.code == .notRunning {
            // It ended while it was asked.
        }
        return DomainStatus(
            name: domain.name.text, store: domain.record.store, directory: ControlFilePath(domain.state),
            state: .stopped)
    }
}

/// `replica status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a domain's counts and progress, or an item's state, version and last error.")

    @Argument(help: "A domain, a path in a mount, or NAME:PATH; without one, every domain.")
    var target: String?
    @Flag(help: "Print it again every second until interrupted.")
    var watch = false
    @Flag(help: "End with status 8 (needsAttention) where there are errors, conflicts or no store.")
    var check = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        var needsAttention = try show()
        while watch {
            sleep(1)
            needsAttention = try show()
        }
        if check, needsAttention { throw ExitReason.needsAttention }
    }

    /// Prints it once; returns whether something is wrong.
    private func show() throws -> Bool {
        guard let target else { return try show(Domains().all()) }
        let (found, isDomain) = try Target.domainOrItem(target)
        if isDomain { return try show([found.domain]) }
        let client = try Daemon.connectOrStart(found.domain)
        guard case .item(let item) = try client.request(.item(path: found.path)) else {
            throw ControlFailure(.wrongProtocol, "the daemon's answer isn't an item")
        }
        try output.show(item, StatusText.lines(item))
        return item.error != nil
    }

    private func show(_ domains: [DomainLocation]) throws -> Bool {
        var needsAttention = false
        for domain in domains {
            let status = try DomainReport.status(of: domain)
            try output.show(status, StatusText.lines(status))
            needsAttention = needsAttention || status.needsAttention
        }
        return needsAttention
    }
}

/// `replica pending`: enumeratorForPendingItems.
struct Pending: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List what isn't in the store yet.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.pending, onEvent: output.list)
    }
}

/// `replica materialized`: enumeratorForMaterializedItems.
struct Materialized: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List what is on this disk.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.materialized, onEvent: output.list)
    }
}

/// `replica conflicts`.
struct Conflicts: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List conflicts nobody settled yet.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.conflicts, onEvent: output.list)
    }
}

extension OutputOptions {
    /// Prints a part of a list: in JSON one object for each thing in it.
    func list(_ event: ControlEvent) throws {
        switch event {
        case .items(let items) where json:
            for item in items { try Output.json(item) }
        case .conflicts(let conflicts) where json:
            for conflict in conflicts { try Output.json(conflict) }
        default: try self.event(event)
        }
    }
}

/// `replica watch`.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print what happens in a domain until interrupted.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.watch, onEvent: output.event)
    }
}

/// `replica wait`: waitForStabilization.
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until all that was written is in the store and all that the store had is here.")

    @Argument(help: "The domain, or an item to wait for what is below it.")
    var target: String
    @Option(help: "Seconds to wait at most; then it ends with status 7 (timedOut).")
    var timeout: Double?
    @OptionGroup var output: OutputOptions

    func run() throws {
        let (target, _) = try Target.domainOrItem(target)
        let client = try Daemon.connectOrStart(target.domain)
        _ = try client.request(.wait(path: target.path), timeout: timeout) { event in
            if output.json { try output.event(event) }
        }
        try output.done("\(self.target) is stable")
    }
}
