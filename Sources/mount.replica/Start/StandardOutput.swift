import Glibc
import SystemPackage
import Threads

/// What this program prints for a person.
enum StandardOutput {
    /// Why something could not be written.
    private static let failure = Locked<Errno?>(nil)

    static func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return failure.withLock { $0 = Errno(rawValue: errno) } }
            rest.removeFirst(count)
        }
    }

    /// Asked when everything is printed; says why it is not.
    static var isWhole: Bool {
        guard let failure = failure.withLock({ $0 }) else { return true }
        StandardError.say("standard output: \(failure)")
        return false
    }
}
