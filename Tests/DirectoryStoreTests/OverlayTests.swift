import Foundation
import Glibc
import ReplicaTestSupport
import Testing

@testable import DirectoryStore

/// Stores on an overlay of two file systems, as most containers have one: its files are on other devices than its folders.
@Suite(.enabled(if: geteuid() == 0), .serialized) struct OverlayTests {
    @Test(arguments: StorePromises.all)
    func keepsPromise(_ promise: StorePromise) async throws {
        let overlay = try Overlay()
        let root = overlay.root
        try await promise.check(
            try await StoreSubject(other: ShellClient(root: root)) { try DirectoryStore(path: root) })
    }

    @Test func filesAreOnAnotherDeviceThanTheirFolder() throws {
        let overlay = try Overlay()
        #expect(FileManager.default.createFile(atPath: "\(overlay.root)/file", contents: Data()))
        var (folder, file) = (stat(), stat())
        #expect(stat(overlay.root, &folder) == 0 && stat("\(overlay.root)/file", &file) == 0)
        #expect(folder.st_dev != file.st_dev)
    }
}

/// An overlay whose layers are on two file systems, mounted as long as this lives. Needs root.
private final class Overlay {
    private let scratch: Scratch
    /// A directory in the overlay.
    var root: String { "\(scratch.root)/store" }
    private var top: String { "\(scratch.path)/top" }

    init() throws {
        scratch = try Scratch()
        let lower = "\(scratch.path)/lower"
        for folder in [lower, top] { try #require(mkdir(folder, 0o755) == 0) }
        try #require(try run("mount", "-t", "tmpfs", "none", top) == 0)
        for folder in ["upper", "work"] { try #require(mkdir("\(top)/\(folder)", 0o755) == 0) }
        let layers = "lowerdir=\(lower),upperdir=\(top)/upper,workdir=\(top)/work,xino=off"
        try #require(try run("mount", "-t", "overlay", "none", "-o", layers, scratch.root) == 0)
        try #require(mkdir(root, 0o755) == 0)
    }

    deinit {
        umount2(scratch.root, Int32(MNT_DETACH))
        umount2(top, Int32(MNT_DETACH))
    }
}
