import Glibc
import SystemPackage

@testable import ReplicaModel
@testable import ReplicaTestSupport

/// A temporary folder with a domain's state; removed with its last reference.
final class BenchFolder: Sendable {
    private let folder: TemporaryFolder
    let state: StateFolders
    var path: FilePath { folder.path }

    init() throws {
        folder = try TemporaryFolder()
        state = StateFolders(root: folder.path.appending("state"))
    }

    /// Creates the domain's state.
    /// - Parameter importing: Fills the imported folder; by default it is empty.
    func makeDomain(importing: ((String) throws -> Void)?) throws {
        let source = try folder.makeFolder("source")
        try importing?(source.string)
        try state.importDomain(from: DirectoryToImport(source))
    }
}

extension Replica {
    /// The first 64 KiB of a local file, as text.
    func text(of number: ItemNumber) throws -> String {
        let file = try open(number, flags: O_RDONLY)
        defer {
            Glibc.close(file.descriptor)
            closed(number, isWriter: false)
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(file.descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
