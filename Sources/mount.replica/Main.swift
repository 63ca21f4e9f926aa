import FuseMount
import Glibc
import ProcessStore
import ReplicaControl

/// A mount(8) helper and, when started by itself, a domain's daemon. Synchronous: nothing here needs a thread.
@main enum Main {
    static func main() {
        BackgroundStart.occupyStandardDescriptors()
        let words = arguments
        if words.first == Array(StoreSandbox.mark.utf8) {
            StoreSandbox.become(words.dropFirst().map { String(decoding: $0, as: UTF8.self) })
        }
        let isStarted = words.first.map { $0 == BackgroundStart.mark } ?? false
        let service = SystemdSettings.take()
        let invocation: Invocation
        let given = isStarted ? Array(words.dropFirst()) : words
        do throws(MountUsageError) { invocation = try Invocation(given) } catch {
            if Invocation.isForCommand(given) {
                BackgroundStart.stay(caller: .command).failed(ControlFailure(.usage, error.message))
            }
            StandardError.say(error.message)
            exit(error.status.rawValue)
        }
        switch invocation {
        case .help: show(Invocation.helpText)
        case .version:
            show(ProgramVersions(libfuse: LibraryVersion.libfuse, storeProtocol: storeProtocolVersion).text)
            LibraryVersion.printKernelInterface()
        case .testStore(let url, let only, let options):
            AmazonKeys.take()
            StoreTest.main(url, only: only, options)
        case .probe(let url, let isJSON, let options):
            AmazonKeys.take()
            StoreProbe.main(url, isJSON: isJSON, options)
        default: run(invocation, isStarted: isStarted, service)
        }
    }

    /// Forwards the request to the running daemon, or starts one; runs it in this process if this process becomes the daemon
    /// or the user waits.
    private static func run(_ invocation: Invocation, isStarted: Bool, _ service: SystemdSettings) {
        var caller = BackgroundStart.Caller.command
        if case .mount = invocation { caller = .mount }
        var background = BackgroundStart.stay(caller: caller)
        do {
            if isStarted {
                background = try BackgroundStart.take(caller: caller)
            } else if !invocation.isDoneHere {
                try BackgroundStart.start(arguments: arguments, caller: caller)
            }
            let directories = DomainDirectory.searchPath(environment: environment)
            if case .mount(let request) = invocation, request.options.isRemount, !request.isFake {
                return try Remounting.carryOut(request, in: directories)
            }
            if let log = invocation.logOfForeground(in: directories) { StandardError.copy(to: log) }
            guard let plan = try DaemonPlan(invocation, in: directories) else { return }
            if service.notice != nil && !isStarted || plan.isAutomount {
                try plan.takeOver()
            } else if let answer = try plan.answerOfRunningDaemon() {
                background.isReady(answer, log: nil)
                return
            }
            if !isStarted { service.complaints.forEach(StandardError.say) }
            // All paths relative to the caller's directory were resolved above.
            if isStarted { chdir("/") }
            DaemonLaunch.run(plan, background, isStarted ? SystemdSettings() : service)
        } catch {
            background.failed(ControlFailure(error))
        }
    }

    private static func show(_ text: String) {
        StandardOutput.write(Array("\(text)\n".utf8))
        if !StandardOutput.isWhole { exit(MountExitStatus.system.rawValue) }
    }

    /// The command line without the program's name, in bytes.
    private static var arguments: [[UInt8]] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            guard let argument = CommandLine.unsafeArgv[index] else { return nil }
            return UnsafeBufferPointer(start: argument, count: strlen(argument)).map(UInt8.init(bitPattern:))
        }
    }

    /// The environment variables that locate domains.
    private static var environment: [String: String] {
        ["XDG_DATA_HOME", "HOME"].reduce(into: [:]) { found, name in
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
    }
}
