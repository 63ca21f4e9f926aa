import Glibc
import ReplicaFileSystem
import ReplicaTestSupport
import Testing

/// Many threads at the same files: the kernel answers EIO when the opens of an inode disagree (MODEL.md#platform).
@Suite struct ConcurrencyTests {
    @Test func opensOfOneFileAgree() async throws {
        try await withMount { mounted, checks in
            checks.expect(writeFile(mounted.mount + "/f", "0123456789"), "write")
            inParallel(4) { thread in
                for round in 0..<300 {
                    let flags = [O_RDONLY, O_RDWR, O_WRONLY | O_APPEND, O_RDONLY][(round + thread) % 4]
                    let file = checks.call(open(mounted.mount + "/f", flags), "open")
                    var byte: UInt8 = 0
                    if flags & O_ACCMODE != O_WRONLY { checks.equal(checks.call(pread(file, &byte, 1, 3)), 1) }
                    checks.call(close(file))
                }
            }
            checks.equal(mounted.fileSystem.traffic.reads, 0)
        }
    }

    @Test func namesAreCreatedAndRemovedConcurrently() async throws {
        try await withMount { mounted, checks in
            inParallel(4) { thread in
                let own = mounted.mount + "/t\(thread)"
                for round in 0..<100 {
                    checks.expect(writeFile(own, "\(round)"), "write")
                    checks.call(rename(own, mounted.mount + "/shared"), "rename")
                    checks.call(mkdir(own, 0o700), "mkdir")
                    _ = readFile(mounted.mount + "/shared")
                    _ = names(in: mounted.mount)
                    checks.call(rmdir(own), "rmdir")
                }
            }
            checks.equal(names(in: mounted.mount), ["shared"])
            checks.equal(names(in: mounted.tree), ["shared"])
        }
    }

    @Test func readersOfTheSameBytesShareOneFetch() async throws {
        let store = MemoryStore()
        let content = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 12) }
        store.write(content, to: "f")
        try await withDomain(store) { mounted, checks in
            let path = mounted.mount + "/f"
            checks.expect(blockUntil { status(path) != nil }, "listed")
            inParallel(4) { thread in
                for round in 0..<40 {
                    let file = checks.call(open(path, O_RDONLY), "open")
                    let offset = (round * 7919 * (thread + 1)) % 3000 * 1024
                    var byte: UInt8 = 0
                    checks.equal(checks.call(pread(file, &byte, 1, offset), "read"), 1)
                    checks.equal(byte, content[offset])
                    checks.call(close(file))
                }
            }
        }
    }

    private func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let done = (0..<count).map { _ in Flag() }
        for index in 0..<count {
            startThread {
                body(index)
                done[index].raise()
            }
        }
        for flag in done { flag.wait() }
    }
}
