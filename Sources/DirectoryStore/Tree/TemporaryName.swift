import ReplicaModel

/// The names of files on their way into the tree and of what is on its way out of it. No listing shows them.
enum TemporaryName {
    static let prefix = Array(".replica-tmp-".utf8)
    /// A file left by a daemon that died is taken away after this time without a change. Long, because another
    /// machine may be at work in the same directory.
    static let longestLife = Duration.seconds(3_600)
    private static let process = UInt64.random(in: 0 ... .max)
    private static let counter = Locked<UInt64>(0)

    static func make() -> FileName {
        let number = counter.withLock {
            $0 += 1
            return $0
        }
        return FileName(bytes: own + Array("\(number)".utf8))
    }

    private static let own = prefix + Array("\(hex(process))-".utf8)

    static func matches(_ name: FileName) -> Bool { name.bytes.starts(with: prefix) }

    /// Whether it is such a name, and none of this process.
    static func isOfAnother(_ name: FileName) -> Bool { matches(name) && !name.bytes.starts(with: own) }
}
