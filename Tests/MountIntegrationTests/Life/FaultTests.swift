import Testing

/// What comes from outside and was never meant to be: it ends no daemon. What ends one all the same ends it at once.
@Suite struct FaultTests {
    /// The last moment that 64 bits of nanoseconds can tell, one after it, and one long after it: on the mount, in the
    /// store and in a directory that is imported.
    @Test func noDateEndsTheDaemon() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                dates="@9223372036.854775807 @9223372036.854775808 @10413792000 @15000000000 @-9223372037.5 @-1.5"
                # Fails for what the disk does not take, which is no fault of ours.
                touch_all() { local n=0; for date in $dates; do echo "$n" >"$1/f$n"; touch -d "$date" "$1/f$n"; n=$((n + 1)); done; }
                mkdir "$SRC/imported"; touch_all "$SRC/imported"
                import_it; mount_it; pid=$(daemon)
                mkdir "$MNT/here"; touch_all "$MNT/here"; settle
                mkdir "$STORE/there"; touch_all "$STORE/there"
                arrived() { [ "$(ls "$MNT/there" | wc -l)" = 6 ] && content_is "$MNT/there/f5" 5; }
                eventually arrived; settle; same
                equal "$(daemon)" "$pid"
                # What is later than can be told is the last that can.
                for folder in imported here there; do equal "$(stat -c %.9Y "$MNT/$folder/f2")" 9223372036.854775807; done
                unmount_it; mount_it; settle; same
                for folder in imported here there; do equal "$(stat -c %.9Y "$MNT/$folder/f2")" 9223372036.854775807; done
                """)
        }
    }

    /// A core dump would wait for a thread that waits for the mount. Nobody waits long for a mount whose daemon crashed.
    @Test(arguments: ["ILL", "SEGV", "ABRT", "TRAP"]) func aCrashIsTheEndAtOnce(signal: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                ulimit -c unlimited
                echo kept >"$SRC/file"; begin; settle
                pid=$(daemon); kill -\(signal) "$pid"; gone "$pid"
                has "$STATE/daemon.log" "ended by a fault of its own, signal $(kill -l \(signal))"
                not cat "$MNT/file" 2>/dev/null
                umount -l "$MNT"; mount_it; content_is "$MNT/file" kept; settle; same
                """)
        }
    }
}
