import Glibc
import ReplicaControl

/// A mount(8) helper and, behind it, a domain's daemon. Synchronous and without a thread until it has forked.
@main enum Main {
    static func main() {
        let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap { index -> [UInt8]? in
            guard let argument = CommandLine.unsafeArgv[index] else { return nil }
            return UnsafeBufferPointer(start: argument, count: strlen(argument)).map(UInt8.init(bitPattern:))
        }
        let invocation: Invocation
        do throws(MountUsageError) { invocation = try Invocation(arguments) } catch {
            StandardError.say(error.message)
            exit(error.status.rawValue)
        }
        switch invocation {
        case .help: print(Invocation.helpText)
        case .version: print("mount.replica 0.1")
        case .mount(let request) where request.isFake: break
        default: break
        }
    }
}
