import CLinux
import Glibc
import Testing

/// Files that are created without a name (O_TMPFILE): they become items when they get one.
@Suite struct UnnamedFileTests {
    @Test func anUnnamedFileBecomesAnItemWithItsName() async throws {
        try await Trial.run { trial in
            try await trial.shell(#"begin; settle"#)
            let file = try make(in: trial.mount)
            try await trial.shell(
                #"""
                # Nothing of it shows, and nothing waits to be sent.
                prints "" find "$MNT" "$TREE" "$STORE" -mindepth 1
                settle
                """#)
            let named = trial.mount + "/named"
            #expect(linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, named, CL_AT_SYMLINK_FOLLOW) == 0)
            #expect(write(file, "more", 4) == 4)
            #expect(close(file) == 0)
            try await trial.shell(
                #"""
                settle; content_is "$STORE/named" textmore
                before=$(stat -c %i "$MNT/named")
                unmount_it; mount_it
                equal "$(stat -c %i "$MNT/named")" "$before"
                content_is "$MNT/named" textmore
                """#)
        }
    }

    @Test func aKillLeavesNothingOfAnUnnamedFile() async throws {
        try await Trial.run { trial in
            try await trial.shell(#"begin; settle"#)
            let without = try make(in: trial.mount)
            let with = try make(in: trial.mount)
            let named = trial.mount + "/named"
            #expect(linkat(AT_FDCWD, "/proc/self/fd/\(with)", AT_FDCWD, named, CL_AT_SYMLINK_FOLLOW) == 0)
            try await trial.shell(
                #"""
                kill_daemon; mount_it
                equal "$(ls -A "$MNT")" named
                content_is "$MNT/named" text
                settle; same
                equal "$(ls -A "$STORE")" named
                """#)
            close(without)
            close(with)
        }
    }

    private func make(in folder: String) throws -> Int32 {
        let file = open(folder, CL_O_TMPFILE | O_RDWR, 0o644)
        try #require(file >= 0, "\(String(cString: strerror(errno)))")
        try #require(write(file, "text", 4) == 4)
        return file
    }
}
