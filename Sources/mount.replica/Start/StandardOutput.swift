import SystemPackage
import Threads

/// What this program prints for the user.
enum StandardOutput {
    /// Why something could not be written.
    private static let failure = Locked<Errno?>(nil)

    static func write(_ bytes: [UInt8]) {
        do { _ = try FileDescriptor.standardOutput.writeAll(bytes) } catch {
            failure.withLock { $0 = error as? Errno ?? .ioError }
        }
    }

    /// Asked when everything is printed; says why it is not.
    static var isWhole: Bool {
        guard let failure = failure.withLock({ $0 }) else { return true }
        StandardError.say("standard output: \(failure)")
        return false
    }
}
