import ArgumentParser
import ReplicaControl

/// `replica retry`.
struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Try again now what waits for its next try.")

    @Argument(help: "The domain, or one item; may be left out where there is only one domain.", completion: .target)
    var target: String?
    @OptionGroup var output: OutputOptions

    func run() throws {
        var domain: DomainLocation
        var path: ControlPath?
        if let target {
            let (found, isDomain) = try Target.domainOrItem(target)
            domain = found.domain
            path = isDomain ? nil : found.path
        } else {
            domain = try Domains().namedOrOnly(nil)
        }
        _ = try Daemon.connectOrStart(domain).request(.retry(path: path))
        try output.done("trying again")
    }
}

/// `replica resolved`: signalErrorResolved.
struct Resolved: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say that the cause of an error is gone, so that what waits for that goes on.")

    @Argument(
        help: "The error's code, as in 'replica status': notAuthenticated, serverUnreachable, ...",
        completion: .errorCode)
    var code: String
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.resolved(code: code))
        try output.done("\(code) counts as resolved")
    }
}

/// `replica approve`.
struct Approve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Let a held mass deletion go on.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.approve)
        try output.done("the deletion goes on")
    }
}

/// `replica restore`.
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Undo a held mass deletion: send to the store again what it deleted.",
        discussion: "What isn't here can't be sent: that stays held until 'replica approve'.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try domain.request(.restore)
        guard case .restored(let result) = answer else { return try output.done("the store gets it again") }
        let left = "; \(Format.count(result.left, "item")) whose content isn't here stays held"
        try output.show(
            answer, ["\(Format.count(result.items, "item")) sent to the store again\(result.left > 0 ? left : "")"])
    }
}

/// `replica connect`: reconnect.
struct Connect: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "End a disconnection.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.connect)
        try output.done("connected")
    }
}

/// `replica disconnect`: disconnect(reason:options:).
struct Disconnect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Call the store no more until 'replica connect'; what is here goes on working.",
        discussion: "It is kept over restarts, unless it is temporary.")
    @OptionGroup var domain: DomainArgument
    @Option(help: "Why; shown by 'replica status'.")
    var reason: String
    @Flag(help: "Until the domain's daemon is started anew, as for an update of the store.")
    var temporary = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.disconnect(reason: reason, temporary: temporary))
        try output.done(temporary ? "disconnected until the daemon is started anew" : "disconnected")
    }
}
