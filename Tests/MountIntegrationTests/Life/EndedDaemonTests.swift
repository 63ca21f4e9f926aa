import Testing

/// `replica unmount` returns when the daemon's process is gone with all its threads.
@Suite struct EndedDaemonTests {
    @Test func theDiskOfTheStateCanBeUnmountedAtOnce() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                mkdir -p data; disk_at data
                replica add d --store "file://$STORE" >/dev/null
                for _ in 1 2 3 4 5 6 7 8; do
                    mount_it; echo one >"$MNT/one"
                    replica unmount d >/dev/null 2>said
                    # On a very busy machine it may say that it could not wait for the end.
                    if [ -s said ]; then has said "has not ended yet"; eventually umount "$HERE/data"; else umount "$HERE/data"; fi
                    mount -o loop data.image "$HERE/data"
                done
                content_is "$STATE/tree/one" one
                umount "$HERE/data"
                """#)
        }
    }
}
