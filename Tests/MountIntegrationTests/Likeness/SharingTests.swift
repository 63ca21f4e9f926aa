import CLinux
import Foundation
import Glibc
import ReplicaTestSupport
import Testing

/// Two programs on one file, or a program and the kernel.
@Suite struct SharingTests {
    @Test func locksExcludeOtherPrograms() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; touch "$MNT/file"
                exec 7<"$MNT/file"; flock 7
                not flock -n "$MNT/file" true
                not flock -s -n "$MNT/file" true
                flock -u 7; flock -n "$MNT/file" true
                flock -s 7; flock -s -n "$MNT/file" true
                not flock -n "$MNT/file" true
                exec 7<&-
                eventually flock -n "$MNT/file" true
                """)
            let file = trial.mount + "/file"
            let own = open(file, O_RDWR | O_CLOEXEC)
            defer { close(own) }
            var range = flock(l_type: Int16(F_WRLCK), l_whence: 0, l_start: 10, l_len: 5, l_pid: 0)
            #expect(fcntl(own, F_SETLK, &range) == 0)
            // Another process sees the lock's owner.
            try await trial.shell(
                """
                locked() { awk -v at=":$(stat -c %i "$MNT/file")\\$" '$2 == "POSIX" && $6 ~ at { found = 1 }
                    END { exit !found }' /proc/locks; }
                eventually locked
                """)
            range.l_type = Int16(F_UNLCK)
            #expect(fcntl(own, F_SETLK, &range) == 0)
        }
    }

    @Test func appendersDoNotOverwriteEachOther() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                for who in a b c; do
                    (for n in $(seq 300); do echo "$who $n" >>"$MNT/log"; done) &
                done
                wait
                equal "$(wc -l <"$MNT/log")" 900
                equal "$(sort -u "$MNT/log" | wc -l)" 900
                settle; same
                """)
        }
    }

    @Test func openFilesOutliveTheirNames() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; cd "$MNT"
                echo one >file; exec 5<>file
                rm file; not test -e file
                echo two >&5
                equal "$(cat /proc/self/fd/5)" two
                equal "$(stat -L -c %h /proc/self/fd/5)" 0
                echo other >file; equal "$(cat /proc/self/fd/5)" two
                exec 5>&-
                # Atomic replacement under a reader.
                echo old >read; exec 6<read; echo new >read.new; mv read.new read
                equal "$(cat <&6)" old; content_is read new
                exec 6<&-
                settle; same
                """)
        }
    }

    @Test func mappedMemoryAndTheFileAgree() async throws {
        try await Trial.run { trial in
            try await trial.shell("begin; head -c 10000 /dev/zero >$MNT/file")
            let path = trial.mount + "/file"
            let failure = try await onThread { Self.map(path) }
            #expect(failure == nil)
            try await trial.shell("settle; same; equal \"$(head -c 5 $MNT/file)\" hello")
        }
    }

    private static func map(_ path: String) -> String? {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return "open" }
        defer { close(file) }
        guard let memory = mmap(nil, 10_000, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED else {
            return "mmap: \(String(cString: strerror(errno)))"
        }
        defer { munmap(memory, 10_000) }
        memcpy(memory, "hello", 5)
        guard msync(memory, 10_000, MS_SYNC) == 0 else { return "msync" }
        var bytes = [UInt8](repeating: 0, count: 5)
        guard pread(file, &bytes, 5, 0) == 5, bytes == Array("hello".utf8) else { return "read after store: \(bytes)" }
        guard pwrite(file, "world", 5, 5000) == 5 else { return "pwrite" }
        let seen = UnsafeRawBufferPointer(start: memory + 5000, count: 5).map { $0 }
        return seen == Array("world".utf8) ? nil : "load after write: \(seen)"
    }
}
