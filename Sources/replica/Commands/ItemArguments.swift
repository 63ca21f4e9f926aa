import ArgumentParser
import ReplicaControl

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
                // An exit status without a message: the command has printed everything.
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
