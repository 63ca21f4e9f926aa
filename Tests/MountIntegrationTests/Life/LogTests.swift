import Testing

/// `replica log NAME -f`, which goes on until it is ended.
@Suite struct LogTests {
    @Test func aLogIsFollowedUntilItIsInterrupted() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                import_it; end_daemon; no_daemon; mount_replica d "$MNT" -v; log=$STATE/daemon.log; echo first >>"$log"
                "$BIN/replica" log d -f >followed 2>&1 & follower=$!
                eventually has followed first
                # What the daemon itself says comes too, here a call of the store, and what stands in a log that takes this one's
                # place.
                echo text >"$MNT/called"; eventually has followed method=createItem
                # It would write between what the test does to its log.
                settle; kill -STOP "$(daemon)"
                mv "$log" "$log.1"; printf second >"$log"; sleep 0.5; lacks followed second
                echo >>"$log"; eventually has followed second
                rm "$log"; echo third >"$log"; eventually has followed third
                kill -0 "$follower"; kill "$follower"; got=0; wait "$follower" || got=$?; equal "$got" 143
                equal "$(grep -cE '^(first|second|third)$' followed)" 3
                kill -CONT "$(daemon)"
                """#)
        }
    }

    /// logrotate(8) moves it away, or it is full and the daemon does so itself: at most two files stay, and who follows it misses
    /// nothing. In the foreground the same holds for its copy.
    @Test(arguments: ["", "-o foreground"]) func aLogThatIsMovedOrFullIsBegunAgain(options: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                "OPTIONS='\(options)'\n" + #"""
                    log=$STATE/daemon.log
                    created() { grep -hF method=createItem "$@" | wc -l; }
                    # In a log that was just begun.
                    is_begun() { [ "$(stat -c %s "$log")" -lt 65536 ] && has "$log" method=createItem; }
                    wrote() { echo text >"$MNT/$1"; eventually is_begun 2>/dev/null; }
                    import_it; end_daemon; no_daemon
                    "$BIN/mount.replica" d "$MNT" -v $OPTIONS 2>said & child=$!
                    eventually is_mounted; pid=$(daemon)
                    "$BIN/replica" log d -f >followed 2>&1 & follower=$!
                    wrote one
                    mv "$log" "$log.1"; wrote two
                    equal "$(created "$log.1")" 1; equal "$(created "$log")" 1; equal "$(stat -c %a "$log")" 600
                    # What Swift's runtime says goes there too.
                    [ -n "$OPTIONS" ] || for number in 1 2; do equal "$(readlink "/proc/$pid/fd/$number")" "$log"; done
                    head -c 10485760 /dev/zero | tr '\0' x | fold -w 65536 >>"$log"
                    wrote three
                    equal "$(created "$log.1")" 1; equal "$(created "$log")" 1
                    [ "$(stat -c %s "$log")" -lt 65536 ]; [ "$(stat -c %s "$log.1")" -gt 10485760 ]
                    equal "$(ls "$STATE" | grep -c daemon.log)" 2
                    all_followed() { [ "$(created followed)" = 3 ]; }
                    eventually all_followed
                    equal "$(replica log d | grep -cF method=createItem)" 2
                    kill "$follower"; wait "$follower" || true
                    # The last word is in the present log too.
                    mv "$log" "$log.1"; wrote four
                    kill -SEGV "$pid"; gone "$pid"; wait "$child" || true
                    equal "$(grep -c '^mount.replica: crashed with signal 11$' "$log")" 1
                    """#)
        }
    }

    /// A link in its place is removed, whether the daemon runs or not, and what it leads to is not touched.
    @Test func aLinkInItsPlaceIsNeverFollowed() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                log=$STATE/daemon.log; echo kept >other
                is_own() { [ ! -L "$log" ] && [ -f "$log" ] && has "$log" method=createItem; }
                begun_again() { echo text >"$MNT/$1"; eventually is_own; has "$log" "had the name of this log"; content_is other kept; }
                import_it; end_daemon; no_daemon; rm -f "$log"
                ln -s "$HERE/other" "$log"
                refused 1 ": not a file, but a link" replica log d
                mount_replica d "$MNT" -v; begun_again one
                rm "$log"; ln -s "$HERE/other" "$log"; begun_again two
                rm "$log"; ln "$HERE/other" "$log"; begun_again three
                rm "$log"; mkfifo "$log"; begun_again four
                # A folder is nothing that is removed; the lines stay where they were.
                mv "$log" before; mkdir "$log"; echo text >"$MNT/five"; settle
                equal "$(grep -cF method=createItem before)" 2
                """#)
        }
    }

    /// The store has a name that would be a line of the kernel's for the journal, and an escape sequence for a terminal.
    @Test func namesCannotForgeLogLines() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                as_replicatest <<'END'
                name=$'a\n<0>kernel: x\e]0;y\a'
                echo one >"$SRC/$name"; begin; settle
                # A daemon that looked between the two could read it.
                pid=$(daemon); kill -STOP "$pid"
                echo 'one and two' >"$STORE/$name"; chmod 000 "$STORE/$name"
                kill -CONT "$pid"
                log=$STATE/daemon.log
                eventually has "$log" 'a change is postponed'
                has "$log" 'a <0>kernel: x ]0;y : Permission denied'
                finds_no -q '^<0>' "$log"
                equal "$(tr -d '\n' <"$log" | LC_ALL=C tr -cd '\000-\037\177' | wc -c)" 0
                equal "$(grep -c 'a change is postponed' "$log")" "$(wc -l <"$log")"
                fusermount3 -u "$MNT"
                END
                """#)
        }
    }

    @Test func followingWaitsForALogAndEndsWithItsReader() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                begin; log=$STATE/daemon.log; rm -f "$log"
                "$BIN/replica" log d -f --json > >(head -n 1 >read) & follower=$!
                echo late >"$log"
                eventually has read '{"line":"late"}'
                # It notices at the next line that nobody reads.
                ended() { echo more >>"$log"; not kill -0 "$follower" 2>/dev/null; }
                eventually ended
                got=0; wait "$follower" || got=$?; equal "$got" 141
                """#)
        }
    }
}
