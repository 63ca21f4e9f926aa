import PathStore
import ReplicaModel

/// Which names a remote of rclone can have.
extension RcloneStorage {
    /// The prefix of the store's internal files, and the suffix of files that rclone has not written completely.
    static let (ownPrefix, partialSuffix) = (TemporaryName.prefix, TemporaryName.suffix)
    /// The file that keeps an empty folder, if the remote has no empty folders.
    static let folderMark = FileName(".replica-folder")

    static func isOwn(_ name: FileName) -> Bool {
        name == folderMark || TemporaryName.isOne(name)
    }

    /// A path in rclone's form.
    func text(_ path: StoragePath) -> String { path.names.map(\.description).joined(separator: "/") }

    /// Why a path is not possible; nil if it is.
    func refusal(of path: StoragePath) -> String? {
        for name in path.names {
            if Self.isOwn(name) { return "names with \(Self.partialSuffix) and \(Self.folderMark) are reserved" }
            if String(validating: name.bytes, as: UTF8.self) == nil {
                return "rclone accepts only UTF-8 names"
            }
            // rclone lists them as other characters.
            if name.bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                return "rclone does not accept control characters in names"
            }
            // rclone's escape character for replaced characters; on a disk it is doubled.
            if name.description.unicodeScalars.contains("\u{201B}") {
                return "rclone does not accept \u{201B} in names, which is its escape character"
            }
        }
        return nil
    }
}
