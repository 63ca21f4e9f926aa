internal import CLinux
internal import Foundation
internal import Glibc
package import SystemPackage

/// How far a removal of a domain is: `STATE/removal`, on the disk before the first file is moved. What is missing in the tree
/// from then on was removed by nobody, so no daemon may compare it with the database: only another removal opens the domain.
struct BegunRemoval: Codable, Equatable {
    /// The folder beside the domain's into which files are moved; nil as long as there is none.
    var preserved: String?
    /// Whether all that is to be kept was moved, so that the rest may go.
    var isPreserved = false
}

/// A removal of the domain was begun and has not come to its end. Another removal goes on with it.
package struct RemovalNotFinished: Error, Sendable {
    /// What stood in the way; nil when it was broken off.
    package var cause: (any Error)?
    /// Where what was kept is so far; nil when there is nothing.
    package var preserved: FilePath?
}

extension StateFolders {
    var removalRecord: FilePath { root.appending("removal") }

    /// - Throws: ``RemovalNotFinished`` when a removal was begun.
    func refuseBegunRemoval() throws {
        guard removalRecord.withPlatformString({ access($0, F_OK) }) == 0 else { return }
        throw RemovalNotFinished(preserved: try preservedFolder(of: begunRemoval()))
    }

    /// The removal that was begun; a new one when there is none.
    func begunRemoval() throws -> BegunRemoval {
        guard let bytes = try privateFile(removalRecord) else { return BegunRemoval() }
        return try JSONDecoder().decode(BegunRemoval.self, from: Data(bytes))
    }

    /// Writes how far the removal is. It is on the disk when this returns.
    func write(_ begun: BegunRemoval) throws {
        try writePrivateFile(removalRecord, Array(try JSONEncoder().encode(begun)))
    }

    /// The folder of what was kept, if it is still there and nobody else's.
    func preservedFolder(of begun: BegunRemoval) throws(Errno) -> FilePath? {
        guard let name = begun.preserved.flatMap({ FilePath.Component($0) }) else { return nil }
        let path = root.removingLastComponent().appending(name)
        let folder = path.withPlatformString { open($0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        let status = try FileStatus(descriptor: folder)
        return status.user == geteuid() && status.permissions & 0o077 == 0 ? path : nil
    }
}
