import Glibc
import ReplicaControl

/// A mount(8) helper and, behind it, a domain's daemon. Synchronous and without a thread until it has forked.
@main enum Main {
    static func main() {
        let invocation: Invocation
        do throws(MountUsageError) { invocation = try Invocation(arguments) } catch {
            StandardError.say(error.message)
            exit(error.status.rawValue)
        }
        switch invocation {
        case .help: print(Invocation.helpText)
        case .version: print("mount.replica 0.1")
        default: run(invocation)
        }
    }

    /// Asks the running daemon, or becomes the daemon.
    private static func run(_ invocation: Invocation) {
        var caller = Background.Caller.command
        if case .mount = invocation { caller = .mount }
        let here = Background.stay(caller: caller)
        do {
            let directories = DomainDirectory.searchPath(environment: environment)
            guard let plan = try DaemonPlan(invocation, in: directories) else { return }
            if let answer = try plan.answerOfRunningDaemon() {
                here.isReady(answer, log: nil)
                return
            }
            let isCommand = if case .remove = plan.task { true } else { plan.options.foreground }
            let background = isCommand ? here : try Background.detach(caller: caller)
            Launch.run(plan, background)
        } catch {
            here.failed(ControlFailure(error))
        }
    }

    /// The command line without the program's name, in bytes.
    private static var arguments: [[UInt8]] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            guard let argument = CommandLine.unsafeArgv[index] else { return nil }
            return UnsafeBufferPointer(start: argument, count: strlen(argument)).map(UInt8.init(bitPattern:))
        }
    }

    /// The variables that say where domains are.
    private static var environment: [String: String] {
        ["XDG_DATA_HOME", "HOME"].reduce(into: [:]) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
    }
}
