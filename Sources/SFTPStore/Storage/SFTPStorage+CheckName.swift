import PathStore
import ReplicaModel

extension SFTPStorage {
    /// - Throws: ``PathStorageError/refused(_:)`` for our own names, and for names that a server may change.
    func check(_ path: StoragePath) throws(PathStorageError) {
        guard let name = path.name else { throw .refused("the root can't be changed") }
        if TemporaryName.isOne(name.bytes) { throw .refused("names starting with .replica-tmp- are reserved") }
        // rclone lists them as other characters, which would give two files.
        if !abilities.linksExclusively, name.bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw .refused("this server may change names with control characters")
        }
    }
}
