import Glibc
import ReplicaFileSystem
import Testing

/// Whether the kernel or the daemon reads and writes complete files.
@Suite struct DataPathTests {
    @Test func theKernelReadsAndWritesTheBackingFile() async throws {
        try await withMount { mounted, checks in
            let path = mounted.mount + "/f"
            let text = String(repeating: "0123456789abcdef", count: 10_000)
            checks.expect(writeFile(path, text), "write")
            checks.equal(readFile(path), text)
            mapAndStore(path, checks)
            checks.equal(readFile(mounted.tree + "/f")?.prefix(6), "mapped")
            checks.equal(mounted.fileSystem.traffic.reads, 0)
            checks.equal(mounted.fileSystem.traffic.writes, 0)
        }
    }

    @Test func theDaemonServesWithoutPassthrough() async throws {
        var options = FileSystemOptions()
        options.usesPassthrough = false
        try await withMount(options) { mounted, checks in
            let path = mounted.mount + "/f"
            let text = String(repeating: "0123456789abcdef", count: 10_000)
            checks.expect(writeFile(path, text), "write")
            checks.equal(readFile(path), text)
            checks.equal(readFile(mounted.tree + "/f"), text)
            mapAndStore(path, checks)
            checks.equal(readFile(mounted.tree + "/f")?.prefix(6), "mapped")
            checks.expect(mounted.fileSystem.traffic.writes > 0, "writes")
            let before = mounted.fileSystem.traffic.reads
            checks.equal(readFile(path)?.utf8.count, text.utf8.count)
            checks.equal(readFile(path)?.utf8.count, text.utf8.count)
            checks.expect(mounted.fileSystem.traffic.reads <= before + 2, "the pages are kept")
        }
    }

    @Test func openFilesCostNoDescriptors() async throws {
        try await withMount { mounted, checks in
            var opened: [Int32] = []
            for index in 0..<300 {
                opened.append(checks.call(open(mounted.mount + "/f\(index)", O_RDWR | O_CREAT, 0o600)))
            }
            checks.expect(descriptors(below: mounted.tree) < 20, "\(descriptors(below: mounted.tree)) descriptors")
            for (index, file) in opened.enumerated() {
                checks.equal(pwrite(file, "x", 1, 0), 1)
                checks.equal(ftruncate(file, 10), 0)
                if index % 10 == 0 { checks.equal(fsync(file), 0) }
                checks.call(close(file))
            }
            checks.equal(status(mounted.tree + "/f7")?.st_size, 10)
        }
    }

    /// How many descriptors of this process are of files below `folder`.
    private func descriptors(below folder: String) -> Int {
        names(in: "/proc/self/fd").filter { name in
            var target = [UInt8](repeating: 0, count: 4096)
            let length = target.withUnsafeMutableBytes { buffer in
                readlink("/proc/self/fd/" + name, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), 4096)
            }
            return String(decoding: target.prefix(max(0, length)), as: UTF8.self).hasPrefix(folder)
        }.count
    }
}

/// Maps a file, reads it there, and writes through the mapping.
private func mapAndStore(_ path: String, _ checks: Checks) {
    let file = checks.call(open(path, O_RDWR))
    defer { close(file) }
    guard let map = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED else {
        return checks.fail("mmap")
    }
    checks.equal(map.load(as: UInt8.self), 0x30, "what write(2) wrote shows in the mapping")
    memcpy(map, "mapped", 6)
    checks.call(msync(map, 4096, MS_SYNC))
    var bytes = [UInt8](repeating: 0, count: 6)
    checks.equal(pread(file, &bytes, 6, 0), 6)
    checks.equal(String(decoding: bytes, as: UTF8.self), "mapped")
    munmap(map, 4096)
}
