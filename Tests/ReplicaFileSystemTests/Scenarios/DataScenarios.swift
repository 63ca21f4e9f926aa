import CLinux
import Glibc

/// Reading and writing files.
///
/// Two things differ by the kernel's doing and are left out: FUSE passes on no FALLOC_FL_COLLAPSE_RANGE and
/// FALLOC_FL_INSERT_RANGE, and a file that is passed through keeps O_APPEND when fcntl(2) takes it away.
enum DataScenarios {
    static let all: [Scenario] = [
        Scenario("write and read") { probe in
            let file = probe.open("f", O_CREAT | O_RDWR)
            probe.write(file, "hello, world")
            probe.read(file, 10)
            probe.read(file, 5, at: 7)
            probe.write(file, "W", at: 7)
            probe.read(file, 100, at: 0)
            probe.read(file, 100, at: 500)
            probe.write(file, "far", at: 10_000)
            probe.fstat(file)
            probe.read(file, 4, at: 9_998)
            probe.seek(file, 0, SEEK_END)
            probe.seek(file, -1, SEEK_SET)
            probe.call("fsync") { Int(fsync(file)) }
            probe.call("fdatasync") { Int(fdatasync(file)) }
            probe.close(file)
            probe.stat("f")
        },
        Scenario("access modes") { probe in
            let reader = probe.open("f", O_CREAT | O_RDONLY, 0o444)
            probe.write(reader, "no")
            probe.close(reader)
            let writer = probe.open("f", O_WRONLY)
            probe.read(writer, 1)
            probe.write(writer, "yes")
            probe.close(writer)
            probe.call("ftruncate") { Int(ftruncate(-1, 0)) }
            let cut = probe.open("f", O_RDWR | O_TRUNC)
            probe.fstat(cut)
            probe.call("ftruncate") { Int(ftruncate(cut, 77)) }
            probe.fstat(cut)
            probe.close(cut)
        },
        Scenario("append") { probe in
            let left = probe.open("f", O_CREAT | O_WRONLY | O_APPEND)
            let right = probe.open("f", O_WRONLY | O_APPEND)
            for _ in 0..<3 {
                probe.write(left, "left ")
                probe.write(right, "right ")
            }
            probe.write(left, "pwrite", at: 0)
            probe.seek(left, 0, SEEK_CUR)
            probe.fstat(left)
            probe.close(left)
            probe.close(right)
            let file = probe.open("f", O_RDONLY)
            probe.read(file, 100)
            probe.close(file)
        },
        Scenario("open and unlinked") { probe in
            let file = probe.open("f", O_CREAT | O_RDWR)
            probe.write(file, "still here")
            probe.unlink("f")
            probe.stat("f")
            probe.fstat(file)
            probe.read(file, 20, at: 0)
            probe.write(file, "!", at: 10)
            probe.call("fchmod") { Int(fchmod(file, 0o640)) }
            probe.call("ftruncate") { Int(ftruncate(file, 5)) }
            probe.call("fsync") { Int(fsync(file)) }
            probe.fstat(file)
            probe.close(probe.open("f", O_CREAT | O_EXCL | O_WRONLY))
            probe.read(file, 20, at: 0)
            probe.stat("f")
            probe.close(file)
        },
        Scenario("removed folders") { probe in
            probe.mkdir("d")
            let folder = probe.open("d", O_RDONLY | O_DIRECTORY)
            probe.rmdir("d")
            probe.call("fstat") {
                var status = Glibc.stat()
                let result = Int(Glibc.fstat(folder, &status))
                // How many links a removed folder has is the filesystem's own affair.
                return result == 0 ? Int(status.st_mode) : result
            }
            probe.call("openat") { Int(openat(folder, "f", O_CREAT | O_WRONLY, 0o600)) }
            probe.call("mkdirat") { Int(mkdirat(folder, "f", 0o700)) }
            probe.mkdir("d")
            probe.list("d")
            probe.close(folder)
        },
        Scenario("sparse files") { probe in
            let file = probe.open("f", O_CREAT | O_RDWR)
            probe.call("ftruncate") { Int(ftruncate(file, 1 << 20)) }
            probe.write(file, "island", at: 512 << 10)
            for (offset, whence) in [
                (0, CL_SEEK_DATA), (0, CL_SEEK_HOLE), (512 << 10, CL_SEEK_HOLE), (600 << 10, CL_SEEK_DATA),
                (2 << 20, CL_SEEK_DATA), (1 << 20, CL_SEEK_HOLE),
            ] {
                probe.seek(file, offset, whence)
            }
            probe.read(file, 10, at: 100)
            probe.close(file)
        },
        Scenario("fallocate") { probe in
            let file = probe.open("f", O_CREAT | O_RDWR)
            probe.allocate(file, 0, 0, 1 << 20)
            probe.fstat(file)
            probe.allocate(file, 1, 1 << 20, 1 << 20)
            probe.fstat(file)
            probe.write(file, String(repeating: "x", count: 64 << 10), at: 0)
            probe.allocate(file, 3, 4096, 8192)
            probe.read(file, 10, at: 4090)
            probe.read(file, 10, at: 12_284)
            probe.allocate(file, 0x10, 20_000, 100)
            probe.read(file, 10, at: 19_995)
            probe.allocate(file, 0x10 | 1, 2 << 20, 4096)
            probe.fstat(file)
            probe.allocate(file, 2, 0, 4096)
            probe.allocate(file, 0, -1, 10)
            probe.allocate(file, 0, 0, 0)
            probe.close(file)
            let reader = probe.open("f", O_RDONLY)
            probe.allocate(reader, 0, 0, 100)
            probe.close(reader)
        },
        Scenario("copy_file_range") { probe in
            let from = probe.open("from", O_CREAT | O_RDWR)
            probe.write(from, String(repeating: "0123456789", count: 1000))
            let into = probe.open("into", O_CREAT | O_RDWR)
            var (start, end): (Int64, Int64) = (5, 100)
            probe.call("copy") { copy_file_range(from, &start, into, &end, 5000, 0) }
            probe.note("\(start) \(end)")
            probe.fstat(into)
            probe.read(into, 20, at: 95)
            start = 9990
            probe.call("copy over the end") { copy_file_range(from, &start, into, &end, 5000, 0) }
            start = 20_000
            probe.call("copy behind the end") { copy_file_range(from, &start, into, &end, 5000, 0) }
            probe.fstat(into)
            probe.close(from)
            probe.close(into)
        },
        Scenario("locks") { probe in
            let left = probe.open("f", O_CREAT | O_RDWR)
            let right = probe.open("f", O_RDWR)
            probe.call("flock") { Int(flock(left, LOCK_EX | LOCK_NB)) }
            probe.call("flock") { Int(flock(right, LOCK_EX | LOCK_NB)) }
            probe.call("flock") { Int(flock(left, LOCK_UN)) }
            probe.call("flock") { Int(flock(right, LOCK_SH | LOCK_NB)) }
            var lock = Glibc.flock()
            lock.l_type = Int16(F_WRLCK)
            lock.l_len = 10
            probe.call("lockf") { Int(fcntl(left, F_SETLK, &lock)) }
            probe.call("lockf") { Int(fcntl(right, F_GETLK, &lock)) }
            probe.note("type \(lock.l_type)")
            probe.close(left)
            probe.close(right)
        },
        Scenario("direct") { probe in
            let file = probe.open("f", O_CREAT | O_RDWR | CL_O_DIRECT)
            var memory: UnsafeMutableRawPointer?
            posix_memalign(&memory, 4096, 8192)
            memset(memory!, 65, 8192)
            probe.call("write") { pwrite(file, memory!, 8192, 0) }
            memset(memory!, 0, 8192)
            probe.call("read") { pread(file, memory!, 4096, 4096) }
            probe.note("\(memory!.load(as: UInt8.self))")
            free(memory)
            probe.fstat(file)
            probe.close(file)
            let synced = probe.open("f", O_WRONLY | O_SYNC)
            probe.write(synced, "synced", at: 0)
            probe.close(synced)
            probe.open("d", CL_O_TMPFILE | O_RDWR)
        },
    ]
}
