import ArgumentParser
import ReplicaControl

/// `replica retry`.
struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Retry failed operations now.")

    @Argument(help: "The domain, or one item; optional if there is only one domain.", completion: .target)
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
        _ = try DaemonConnection.connectOrStart(domain).request(.retry(path: path))
        try output.done("retrying")
    }
}

/// `replica resolved`: signalErrorResolved.
struct Resolved: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Declare the cause of an error fixed, so that the operations waiting for that continue.")

    @Argument(
        help: "The error's code, as in 'replica status': notAuthenticated, serverUnreachable, ...",
        completion: .errorCode)
    var code: String
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.resolved(code: code))
        try output.done("\(code) is marked as resolved")
    }
}

/// `replica approve`.
struct Approve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Approve a held mass deletion.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.approve)
        try output.done("what was held is approved")
    }
}

/// `replica restore`.
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Undo a held mass deletion: upload the deleted items again.",
        discussion: "Items whose content is not local cannot be uploaded; they stay held until 'replica approve'.")
    @OptionGroup var domain: DomainArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let answer = try domain.request(.restore)
        guard case .restored(let result) = answer else { return try output.done("the items are uploaded again") }
        let left = "; \(Format.count(result.left, "item")) whose content is not local stays held"
        try output.show(
            answer, ["\(Format.count(result.items, "item")) uploaded again\(result.left > 0 ? left : "")"])
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
        abstract: "Stop using the store until 'replica connect'; local content stays usable.",
        discussion: "The disconnection persists across restarts, unless it is temporary.")
    @OptionGroup var domain: DomainArgument
    @Option(help: "The reason, shown by 'replica status'.")
    var reason: String
    @Flag(help: "Only until the daemon is restarted, for example during an update of the store.")
    var temporary = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        _ = try domain.request(.disconnect(reason: reason, temporary: temporary))
        try output.done(temporary ? "disconnected until the daemon is restarted" : "disconnected")
    }
}
