import Foundation
import Glibc
import SystemPackage

@testable import ReplicaModel

/// A temporary folder with a domain's state; removed with its last reference.
final class BenchFolder: Sendable {
    let path: FilePath
    let state: StateFolders

    init() throws {
        var template = Array("/var/tmp/replica-test-\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        path = FilePath(platformString: template)
        state = StateFolders(root: path.appending("state"))
    }

    /// Creates the domain's state.
    /// - Parameter importing: Fills the imported folder; by default it is empty.
    func makeDomain(importing: ((String) throws -> Void)?) throws {
        let source = path.appending("source")
        try FileManager.default.createDirectory(atPath: source.string, withIntermediateDirectories: true)
        try importing?(source.string)
        try state.importDomain(from: DirectoryToImport(source))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path.string)  // Anything that can't be removed is in /var/tmp.
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
