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
