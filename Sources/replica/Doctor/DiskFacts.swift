import ReplicaControl
import SystemPackage

/// A folder on a disk: the space and the features of its filesystem.
struct DiskFacts: Equatable {
    /// The result of inspecting it.
    enum Outcome: Equatable {
        case seen, silent
        /// The system's error message.
        case failed(String)
    }

    var path: FilePath = "/"
    var outcome = Outcome.seen
    /// The bytes that this user may still write, and the total; both 0 if the filesystem does not tell, as ramfs.
    var free: Int64 = 1 << 40
    var total: Int64 = 1 << 41
    /// The number of files that can still be created; nil if the filesystem has no such limit.
    var freeFiles: Int64?
    var hasAttributes = true
    var isWritable = true
    /// Whether it can't be written because its filesystem is mounted read-only.
    var isReadOnly = false

    init() {}

    /// Inspects the folder, with a timeout of a few seconds.
    init(at path: FilePath) {
        let bytes = Self.bytes(of: path)
        self.init(spaceAt: path, bytes)
        guard outcome == .seen else { return }
        guard let probe = DiskProbe.ask(bytes) else {
            outcome = .silent
            return
        }
        (hasAttributes, isWritable, isReadOnly) = probe
    }

    /// Whether the folder can be reached. It may be in another user's mount, so no more is asked of it.
    /// - Parameter user: Of a mount that only this user may enter. Root is told of no error there.
    static func outcome(at path: FilePath, asUser user: MountedFileSystem.User?) -> Outcome {
        DiskFacts(spaceAt: path, bytes(of: path), asUser: user).outcome
    }

    private static func bytes(of path: FilePath) -> [UInt8] {
        path.withPlatformString {
            $0.withMemoryRebound(to: UInt8.self, capacity: path.length) {
                Array(UnsafeBufferPointer(start: $0, count: path.length))
            }
        }
    }

    private init(spaceAt path: FilePath, _ bytes: [UInt8], asUser user: MountedFileSystem.User? = nil) {
        self.path = path
        let tool = "/usr/bin/stat"
        var words = ["-f", "-c", "%S %a %b %d %c", "--"].map { Array($0.utf8) } + [bytes]
        if let user {
            let rights = ["--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups", "--", tool]
            words = rights.map { Array($0.utf8) } + words
        }
        let program = user == nil ? tool : "/usr/bin/setpriv"
        guard let result = TimeLimitedProgram.run(program, words, seconds: DaemonProbe.helloSeconds) else {
            outcome = .silent
            return
        }
        let numbers = result.output.split { $0 == " " || $0 == "\n" }.compactMap { Int64($0) }
        guard result.status == 0, numbers.count == 5 else {
            let reason = result.output.split(separator: "\n").first?.split(separator: ": ").last.map(String.init)
            outcome = .failed(reason ?? "it can't be inspected")
            return
        }
        (free, total) = (numbers[0].multiplied(numbers[1]), numbers[0].multiplied(numbers[2]))
        freeFiles = numbers[4] > 0 ? numbers[3] : nil
    }
}

extension Int64 {
    /// The product, clamped to the maximum of the type.
    fileprivate func multiplied(_ other: Int64) -> Int64 {
        let (product, isTooMuch) = multipliedReportingOverflow(by: other)
        return isTooMuch ? .max : product
    }
}
