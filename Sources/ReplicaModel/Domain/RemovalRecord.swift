internal import CLinux
internal import Foundation
internal import Glibc
package import SystemPackage

/// The progress of a domain's removal: `STATE/removal`, on the disk before the first file is moved. From then on, files
/// missing from the tree were not removed by the user, so no daemon may compare the tree with the database: only
/// another removal can open the domain.
struct RemovalRecord: Codable, Equatable {
    /// The folder next to the domain's into which files are moved; nil before it was made.
    var preserved: String?
    /// Whether everything that is kept was moved, so that the rest can be removed.
    var isPreserved = false
}

/// A removal of the domain was begun and not finished. Another removal continues it.
package struct RemovalNotFinished: Error, Sendable {
    /// Why it failed; nil if it was interrupted.
    package var cause: (any Error)?
    /// The folder with the files kept so far; nil if there are none.
    package var preserved: FilePath?
}

extension StateFolders {
    var removalRecord: FilePath { root.appending("removal") }

    /// Whether a removal was begun, which can only be continued.
    package var isRemovalBegun: Bool { removalRecord.withPlatformString { access($0, F_OK) } == 0 }

    /// - Throws: ``RemovalNotFinished`` when a removal was begun.
    func refuseBegunRemoval() throws {
        guard isRemovalBegun else { return }
        throw RemovalNotFinished(preserved: try preservedFolder(of: begunRemoval()))
    }

    /// The removal that was begun, or a new one.
    func begunRemoval() throws -> RemovalRecord {
        guard let bytes = try privateFile(removalRecord) else { return RemovalRecord() }
        return try JSONDecoder().decode(RemovalRecord.self, from: Data(bytes))
    }

    /// Writes how far the removal is. It is on the disk when this returns.
    func write(_ begun: RemovalRecord) throws {
        try writePrivateFile(removalRecord, Array(try JSONEncoder().encode(begun)))
    }

    /// The folder of the kept files, if it still exists and belongs to this user.
    func preservedFolder(of begun: RemovalRecord) throws(Errno) -> FilePath? {
        guard let name = begun.preserved.flatMap({ FilePath.Component($0) }) else { return nil }
        let path = root.removingLastComponent().appending(name)
        let folder = path.withPlatformString { open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        let status = try FileStatus(descriptor: folder)
        return status.user == geteuid() && status.permissions & 0o077 == 0 ? path : nil
    }
}
