import Foundation
import Glibc
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Moves in the backing tree never replace a file: other processes can create a name in the folder at any moment.
@Suite struct PlaceTests {
    /// Another user, on a separate thread: tests share only a few.
    private final class Other: @unchecked Sendable {  // The lock guards the counts.
        private let state = Locked((isOver: false, made: 0, lost: 0))
        private let ended = DispatchSemaphore(value: 0)

        /// Creates files with one name as fast as possible, and counts those that were removed by the code under test.
        init(_ name: String, in folder: Int32) {
            Thread.detachNewThread { [self] in
                while !state.withLock({ $0.isOver }) {
                    let file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0o600)
                    guard file >= 0 else { continue }
                    var status = stat()
                    for _ in 0..<20 { fstat(file, &status) }
                    let isLost = status.st_nlink == 0
                    if !isLost { unlinkat(folder, name, 0) }
                    close(file)
                    state.withLock { ($0.made, $0.lost) = ($0.made + 1, $0.lost + (isLost ? 1 : 0)) }
                }
                ended.signal()
            }
        }

        var made: Int { state.withLock { $0.made } }

        /// Ends it.
        /// - Returns: How many were removed.
        func end() -> Int {
            state.withLock { $0.isOver = true }
            ended.wait()
            return state.withLock { $0.lost }
        }
    }

    @Test func aMoveReplacesNothing() throws {
        let scratch = try BenchFolder()
        let folder = open(scratch.path.string, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        let other = Other("taken", in: folder)
        let (from, to) = (FileName("from"), FileName("taken"))
        var moved = 0
        while moved < 2_000 || other.made < 2_000 {
            close(openat(folder, "from", O_WRONLY | O_CREAT, 0o600))
            do throws(Errno) {
                try BackingPath(folder: folder, name: from).move(to: BackingPath(folder: folder, name: to))
                moved += 1
                unlinkat(folder, "taken", 0)
            } catch {
                #expect(error == .fileExists)
            }
        }
        #expect(other.end() == 0, "of \(other.made) files")
    }

    @Test func earlierPreservedFilesAreKept() throws {
        let scratch = try BenchFolder()
        try scratch.makeDomain(importing: nil)
        let folder = open(scratch.path.string, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        for text in ["one", "two"] {
            try Data(text.utf8).write(to: URL(filePath: scratch.path.appending("f").string))
            try scratch.state.keep(BackingPath(folder: folder, name: FileName("f")), of: 7, FileName("name"))
        }
        let kept = scratch.state.kept
        #expect(try String(contentsOfFile: kept.appending("7 name").string, encoding: .utf8) == "one")
        #expect(try String(contentsOfFile: kept.appending("7-2 name").string, encoding: .utf8) == "two")
    }
}
