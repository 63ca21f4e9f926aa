import ArgumentParser
import Glibc
import ReplicaControl

/// The control command for users. All exit statuses are in `ExitReason` of ReplicaControl.
struct Replica: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replica",
        abstract: "Directories that are kept in a store and work like any other directory.",
        discussion: """
            A domain is a directory tree that is kept in a store. An item is named by its path in the mount, or by \
            NAME:PATH whether the domain is mounted or not. replica-domains(5) has the exit codes.
            """,
        version: programVersion,
        groupedSubcommands: [
            CommandGroup(name: "Domains", subcommands: [Import.self, Add.self, List.self, Remove.self]),
            CommandGroup(
                name: "Stores", subcommands: [Stores.self, Login.self, Logout.self, Probe.self, TestStore.self]),
            CommandGroup(name: "Mounting", subcommands: [Mount.self, Unmount.self]),
            CommandGroup(
                name: "Status",
                subcommands: [Status.self, Path.self, Pending.self, Materialized.self, Watch.self, Wait.self, Log.self]),
            CommandGroup(
                name: "Content",
                subcommands: [Download.self, Evict.self, Forget.self, Pin.self, Unpin.self, Reimport.self, Resend.self]),
            CommandGroup(
                name: "Troubleshooting",
                subcommands: [
                    Doctor.self, Conflicts.self, Resolve.self, Retry.self, Resolved.self, Approve.self, Restore.self,
                    Connect.self,
                    Disconnect.self,
                ]),
            CommandGroup(name: "Help", subcommands: [Man.self, Completion.self]),
        ])
}

@main enum Main {
    static func main() {
        occupyStandardDescriptors()
        do {
            let words = CommandLine.arguments.dropFirst()
            if words.first == DiskProbe.word { return DiskProbe.run() }
            if words == ["--version"] { return try MountProgram.printVersions() }
            // The help text is fixed; the stores installed on this machine are not.
            var command = try Replica.parseAsRoot(words == ["help", "stores"] ? ["stores"] : Array(words))
            try command.run()
        } catch {
            finish(error)
        }
    }

    /// Takes the numbers of standard descriptors that are closed, which a socket would get; nothing can be written to these.
    private static func occupyStandardDescriptors() {
        var descriptor: Int32 = 0
        while (0...2).contains(descriptor) { descriptor = open("/dev/null", O_RDONLY) }
        if descriptor > 2 { close(descriptor) }
    }

    /// Prints one line on standard error and exits with the error's status.
    private static func finish(_ error: any Error) -> Never {
        if let failure = error as? ControlFailure {
            Output.complain(failure.message)
            exit(failure.code.rawValue)
        }
        if let unreadable = error as? UnreadableDomain {
            Output.complain("\(unreadable)")
            exit(ExitReason.failed.rawValue)
        }
        if let status = error as? ExitReason { exit(status.rawValue) }
        let code = Replica.exitCode(for: error)
        if code == .success {
            let text = Replica.fullMessage(for: error)
            if !text.isEmpty { Output.document(CompletionScript.completed(text)) }
            exit(ExitReason.success.rawValue)
        }
        let message = Replica.message(for: error).split(separator: "\n").joined(separator: " ")
        Output.complain(message.hasPrefix("Error: ") ? String(message.dropFirst(7)) : message)
        exit(code == .validationFailure ? ExitReason.usage.rawValue : code.rawValue)
    }
}
