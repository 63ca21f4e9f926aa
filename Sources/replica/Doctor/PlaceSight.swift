import Glibc
import ReplicaControl
import SystemPackage

/// A folder on a disk: what its filesystem has and can.
struct PlaceSight: Equatable {
    /// What became of looking at it.
    enum Outcome: Equatable {
        case seen, silent
        /// In the words of the system.
        case failed(String)
    }

    var path: FilePath = "/"
    var outcome = Outcome.seen
    /// Bytes that this user may still write, and all there are.
    var free: Int64 = 1 << 40
    var total: Int64 = 1 << 41
    /// Files that may still be made; nil where the filesystem counts none.
    var freeFiles: Int64?
    var hasAttributes = true
    var isWritable = true

    init() {}

    /// Looks, for a few seconds at most.
    init(at path: FilePath) {
        self.path = path
        let bytes = path.withPlatformString {
            $0.withMemoryRebound(to: UInt8.self, capacity: path.length) {
                Array(UnsafeBufferPointer(start: $0, count: path.length))
            }
        }
        let words = ["-f", "-c", "%S %a %b %d %c", "--"].map { Array($0.utf8) } + [bytes]
        guard let result = BoundedProgram.run("/usr/bin/stat", words, seconds: DaemonProbe.helloSeconds) else {
            outcome = .silent
            return
        }
        let numbers = result.output.split { $0 == " " || $0 == "\n" }.compactMap { Int64($0) }
        guard result.status == 0, numbers.count == 5 else {
            let reason = result.output.split(separator: "\n").first?.split(separator: ": ").last.map(String.init)
            outcome = .failed(reason ?? "it can't be looked at")
            return
        }
        (free, total) = (numbers[0].multiplied(numbers[1]), numbers[0].multiplied(numbers[2]))
        freeFiles = numbers[4] > 0 ? numbers[3] : nil
        hasAttributes = AttributeSupport.isThere(at: path)
        isWritable = access(path.string, W_OK) == 0
    }

    /// Nothing more can be written.
    var isFull: Bool { free < 1 << 20 || freeFiles.map { $0 < 16 } ?? false }
    /// A few files more fill it.
    var isNearlyFull: Bool { free < 1 << 30 && free < total / 20 || freeFiles.map { $0 < 1000 } ?? false }
}

extension Int64 {
    /// The product, at most the greatest number there is.
    fileprivate func multiplied(_ other: Int64) -> Int64 {
        let (product, isTooMuch) = multipliedReportingOverflow(by: other)
        return isTooMuch ? .max : product
    }
}
