import ArgumentParser
import ReplicaControl

/// Options of every command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object a line.")
    var json = false

    /// Prints a value as JSON, or its lines for users.
    func show(_ value: some Encodable, _ lines: @autoclosure () -> [String]) throws {
        ProgressLine.end()
        if json { try Output.json(value) } else { lines().forEach(Output.line) }
    }

    /// Prints a success message, in JSON an empty answer.
    func done(_ line: String) throws {
        try show(ControlAnswer.done, [line])
    }

    /// Prints events; progress for users goes to standard error.
    func event(_ event: ControlEvent) throws {
        if json { return try Output.json(event) }
        if case .progress(let progress) = event { return ProgressLine.show(progress) }
        ProgressLine.end()
        EventText.lines(event).forEach(Output.line)
    }
}

/// The domain argument, optional if there is only one domain.
struct DomainArgument: ParsableArguments {
    @Argument(help: "The domain; optional if there is only one.", completion: .domain)
    var name: String?

    /// The domain.
    func find() throws -> DomainLocation { try Domains().namedOrOnly(name) }

    /// Sends a request to the domain's daemon, which is started if necessary.
    func request(_ request: ControlRequest, onEvent: (ControlEvent) throws -> Void = { _ in }) throws -> ControlAnswer {
        try DaemonConnection.connectOrStart(find()).request(request, onEvent: onEvent)
    }
}

/// The items that a command is about.
struct ItemArguments: ParsableArguments {
    @Argument(help: "Paths in a mount, or NAME:PATH.", completion: .path)
    var paths: [String]

    /// Carries out `body` for each item. If it fails for one of several, that is reported, and the others are done all the same.
    func each(_ body: (NamedItem) throws -> Void) throws {
        var failed: ExitReason?
        for path in paths {
            do { try body(NamedItem(path: path)) } catch {
                if paths.count == 1 { throw error }
                failed = (error as? ControlFailure)?.code ?? error as? ExitReason ?? .failed
                // A status alone is of a command that has printed everything.
                if !(error is ExitReason) { Output.complain(ControlFailure.words(error)) }
            }
        }
        if let failed { throw failed }
    }
}

/// An item, as it was named on the command line.
struct NamedItem {
    let path: String

    /// Sends a request about the item to its domain's daemon, which is started if necessary.
    func request(
        onEvent: (ControlEvent) throws -> Void = { _ in }, _ request: (ControlPath) throws -> ControlRequest
    ) throws -> ControlAnswer {
        let target = try Target.item(path)
        return try DaemonConnection.connectOrStart(target.domain).request(try request(target.path), onEvent: onEvent)
    }
}

extension RemovalMode: ExpressibleByArgument {}
extension ConflictChoice: ExpressibleByArgument {}
