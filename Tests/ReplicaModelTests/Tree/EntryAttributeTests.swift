import CLinux
import Glibc
import SystemPackage
import Testing

@testable import ReplicaModel

/// An attribute of a folder's entry, by the call that newer kernels have and by the path that all have.
@Suite struct EntryAttributeTests {
    private typealias Way = @Sendable (String, FileName, Int32, UnsafeMutableRawBufferPointer) -> Int
    private static let ways: [Way] =
        EntryAttribute.isDirect
        ? [EntryAttribute.direct, EntryAttribute.byPath] : [EntryAttribute.byPath]

    private static func read(_ name: String, in folder: Int32, size: Int = 8, _ way: Way) -> (length: Int, errno: Int32)
    {
        var value = [UInt8](repeating: 0, count: size)
        let length = value.withUnsafeMutableBytes { way("user.one", FileName(name), folder, $0) }
        return (length, length < 0 ? errno : 0)
    }

    @Test func noSymlinkIsFollowed() throws {
        let scratch = try BenchFolder()
        let path = scratch.path.string
        for name in ["with", "without"] { close(open("\(path)/\(name)", O_CREAT | O_WRONLY, 0o600)) }
        #expect(setxattr("\(path)/with", "user.one", "123", 3, 0) == 0)
        #expect(symlink("with", "\(path)/link") == 0)
        let folder = open(path, CL_O_PATH | O_DIRECTORY)
        defer { close(folder) }
        for way in Self.ways {
            #expect(Self.read("with", in: folder, way) == (3, 0))
            #expect(Self.read("with", in: folder, size: 2, way) == (-1, ERANGE))
            #expect(Self.read("without", in: folder, way) == (-1, ENODATA))
            #expect(Self.read("absent", in: folder, way) == (-1, ENOENT))
            // A symlink has no such attributes, and its target's are not its own.
            #expect(Self.read("link", in: folder, way).length == -1)
        }
    }
}
