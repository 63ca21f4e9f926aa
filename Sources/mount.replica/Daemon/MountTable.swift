import ReplicaControl
import SystemPackage

/// What this process sees mounted.
enum MountTable {
    /// Whether a domain is mounted at `path`. True when that can't be told.
    static func hasReplica(at path: FilePath) -> Bool {
        guard let table = try? FileBytes.readIfPresent("/proc/self/mounts", limit: .max) else { return true }
        let wanted = escaped(path)
        return table.split(separator: UInt8(ascii: "\n")).contains { line in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 3)
            return fields.count == 4 && fields[1].elementsEqual(wanted)
                && fields[2].elementsEqual("fuse.replica".utf8)
        }
    }

    /// A path as the table has it: blanks, backslashes and number signs in octal (seq_path in the kernel's proc).
    private static func escaped(_ path: FilePath) -> [UInt8] {
        path.withPlatformString { text in
            UnsafeBufferPointer(start: text, count: path.length).flatMap { character -> [UInt8] in
                let byte = UInt8(bitPattern: character)
                guard " \t\n\\#".utf8.contains(byte) else { return [byte] }
                return [UInt8(ascii: "\\"), 48 + byte >> 6, 48 + byte >> 3 & 7, 48 + byte & 7]
            }
        }
    }
}
