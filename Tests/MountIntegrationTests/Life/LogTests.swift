import Testing

/// `replica log NAME -f`, which goes on until it is ended.
@Suite struct LogTests {
    @Test func aLogIsFollowedUntilOneEndsIt() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                import_it; end_daemon; no_daemon; mount_replica d "$MNT" -v; log=$STATE/daemon.log; echo first >>"$log"
                "$BIN/replica" log d -f >followed 2>&1 & follower=$!
                eventually has followed first
                # What the daemon itself says comes too, here a call of the store, and what stands in a log that takes this one's
                # place.
                echo text >"$MNT/called"; eventually has followed method=createItem
                mv "$log" "$log.1"; printf second >"$log"; sleep 0.5; lacks followed second
                echo >>"$log"; eventually has followed second
                rm "$log"; echo third >"$log"; eventually has followed third
                kill -0 "$follower"; kill "$follower"; got=0; wait "$follower" || got=$?; equal "$got" 143
                equal "$(grep -cE '^(first|second|third)$' followed)" 3
                """#)
        }
    }

    /// The store has a name that would be a line of the kernel's for the journal, and an escape sequence for a terminal.
    @Test func aNameInTheStoreForgesNoLine() async throws {
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

    @Test func itWaitsForALogAndEndsWithItsReader() async throws {
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
