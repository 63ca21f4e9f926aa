import Testing

/// A store that can't be written is retried automatically: waiting callers continue soon after it works again, and
/// until then the status shows the next retry.
@Suite struct HealedStoreTests {
    /// Functions for all of them: `held` until the store works again, and `healed` afterwards.
    private static let words = """
        said() { replica status d | grep -qF "'replica retry d' tries now"; }
        waits() {
            timeout 320 "$BIN/replica" wait d --timeout 300 >waited 2>&1 &
            waiting=$!
        }
        # Nothing says that there is nothing to do, as long as there is.
        held() {
            local n
            eventually said
            for n in 1 2 3 4 5; do
                not eval 'replica status d --json | grep -q "\\"state\\":\\"idle\\""'
                sleep 0.3
            done
            kill -0 $waiting
        }
        is_idle() { replica status d --json | grep -q '"state":"idle"'; }
        healed() { wait $waiting || fail "$(cat waited)"; same; eventually is_idle; }

        """

    @Test func aStoreIsUsedAgainAfterItWasReadOnly() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    mount -t tmpfs none "$STORE"
                    echo one >"$SRC/one"; begin; settle
                    mount -o remount,ro "$STORE"
                    echo two >"$MNT/two"; echo three >"$MNT/one"; mkdir "$MNT/d"; echo four >"$MNT/d/four"
                    waits; held
                    replica status d --json | grep -q '"reason":"the store is read-only"'
                    mount -o remount,rw "$STORE"
                    healed
                    """)
        }
    }

    @Test func aStoreIsUsedAgainAfterItWasFull() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    mount -t tmpfs -o size=1m none "$STORE"
                    begin; settle
                    head -c 3000000 /dev/urandom >"$MNT/large"; echo small >"$MNT/small"
                    waits; held
                    mount -o remount,size=8m "$STORE"
                    healed
                    """)
        }
    }

    @Test func aDirectoryIsUsedAgainAfterItWasImmutable() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    mkdir "$SRC/d"; echo one >"$SRC/d/one"; echo one >"$SRC/one"; begin; settle
                    chattr +i "$STORE/d"
                    echo two >"$MNT/d/two"; mv "$MNT/one" "$MNT/d/"; echo three >"$MNT/three"
                    waits; held
                    content_is "$STORE/three" three
                    chattr -i "$STORE/d"
                    healed
                    """)
        }
    }

    @Test func aDirectoryIsUsedAgainAfterItWasInaccessible() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                "{ cat <<'END'\n" + Self.words + """
                    begin; settle
                    chmod 555 "$STORE"
                    echo two >"$MNT/two"; mkdir "$MNT/d"; echo three >"$MNT/d/three"
                    waits; held
                    chmod 755 "$STORE"
                    healed
                    echo theirs >"$STORE/theirs"; chmod 0 "$STORE/theirs"
                    waits; kill -0 $waiting
                    chmod 644 "$STORE/theirs"
                    wait $waiting; content_is "$MNT/theirs" theirs
                    fusermount3 -u "$MNT"; replica unmount d 2>/dev/null || true
                    end_daemon
                    END
                    } | as_replicatest
                    """)
        }
    }
}
