import Testing

/// A full backing disk is an error for the caller and damages nothing.
@Suite struct FullDiskTests {
    @Test func aFullDiskBelowTheMountFailsWrites() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                truncate -s 24M image; mkfs.ext4 -q -F image; mkdir disk; mount -o loop image disk
                mkdir disk/src; echo keep >disk/src/keep
                replica import d "$HERE/disk/src" --store "file://$STORE"
                mount_it; settle
                got=0; for n in $(seq 40); do
                    head -c 1000000 /dev/zero | tr '\\0' "$((n % 10))" >"$MNT/big$n" 2>err || { got=$n; break; }
                done
                test $got -gt 1; grep -q "No space left" err
                for n in $(seq $((got - 1))); do equal "$(stat -c %s "$MNT/big$n")" 1000000; done
                content_is "$MNT/keep" keep
                ls "$MNT" >/dev/null
                rm "$MNT"/big*
                room() { echo text >"$MNT/after" 2>/dev/null; }
                eventually room
                settle; same; content_is "$STORE/after" text
                end_daemon; is_mounted && umount -l "$MNT"
                mount_it; content_is "$MNT/after" text; content_is "$MNT/keep" keep
                unmount_it; no_daemon; eventually umount disk
                """)
        }
    }

    /// statfs(2) knows no quotas: an exceeded one shows when something is written.
    @Test func aDaemonStartsOverAQuota() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo text >"$SRC/file"; begin; settle; eventually test -e "$STATE/reserve"
                unmount_it; no_daemon
                strace -f -qq -o calls -e trace=fallocate -e inject=fallocate:error=EDQUOT "$BIN/replica" mount d "$MNT" &
                tracer=$!
                eventually is_mounted
                not test -e "$STATE/reserve"
                content_is "$MNT/file" text
                kill -KILL "$tracer"; wait "$tracer" || true
                """)
        }
    }

    /// The state on a disk of 24 MB, the store on another, with files of known bytes.
    private let smallDisk = #"""
        truncate -s 24M image; mkfs.ext4 -q -F image; mkdir disk; mount -o loop image disk
        export XDG_DATA_HOME=$HERE/disk/data; mkdir disk/data
        state=$HERE/disk/data/replica/d
        big() { head -c "$1" /dev/urandom; }
        end() {
            exec 9<&-
            replica unmount d >/dev/null; eventually flock -n "$state/lock" true; eventually umount disk
        }
        free() { df --output=avail -B1 disk | tail -1; }

        """#

    @Test func filesLargerThanTheDiskAreStreamed() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                smallDisk + #"""
                    big 60000001 >"$STORE/big"; big 3000000 >"$STORE/small"
                    replica add d --store "file://$STORE" >/dev/null; replica mount d "$MNT" >/dev/null
                    before=$(free)
                    cmp "$MNT/big" "$STORE/big"
                    # Nothing of it is kept, and there is room for what is written.
                    equal "$(getfattr --only-values -n user.replica.state "$MNT/big")" dataless
                    test "$(free)" -gt $((before - 2000000))
                    dd if="$MNT/big" bs=100 skip=599990 count=20 status=none | cmp - <(tail -c 1001 "$STORE/big")
                    # Several readers, out of order, and a small file beside it, which is kept.
                    pids=()
                    for n in 1 2 3 4; do
                        cmp <(dd if="$MNT/big" bs=1M skip=$((n * 11)) count=9 status=none)                             <(dd if="$STORE/big" bs=1M skip=$((n * 11)) count=9 status=none) >/dev/null 2>&1 & pids+=($!)
                    done
                    for pid in "${pids[@]}"; do wait "$pid"; done
                    cmp "$MNT/small" "$STORE/small"
                    equal "$(getfattr --only-values -n user.replica.state "$MNT/small")" materialized
                    # What must be here says why it can't be.
                    refused 1 "replica: d:big: no space is left on this disk" replica download "$MNT/big" --wait
                    # Who read a part of a content that is gone gets no other's rest.
                    exec 9<"$MNT/big"
                    head -c 100000 <&9 | cmp - <(head -c 100000 "$STORE/big")
                    big 60000001 >"$STORE/new"; mv "$STORE/new" "$STORE/big"
                    stale() { ! dd bs=1M skip=40 count=1 of=/dev/null status=none <&9 2>err; }
                    eventually stale
                    grep -q "Stale" err
                    newer() { cmp -s "$MNT/big" "$STORE/big"; }
                    eventually newer
                    # Nor does the kernel keep pages of it, whatever was under way when it went.
                    for n in 1 2 3 4 5; do
                        exec 9<"$MNT/big"
                        for m in 5 15 25 35; do dd if=/dev/fd/9 bs=1M skip=$m count=9 of=/dev/null status=none 2>/dev/null & done
                        big 60000001 >"$STORE/new"; mv "$STORE/new" "$STORE/big"
                        wait; eventually newer
                    done
                    end
                    """#)
        }
    }

    @Test func aFullStateDiskIsExplained() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                smallDisk + #"""
                    echo cold >"$STORE/cold"; echo warm >"$STORE/warm"
                    replica add d --store "file://$STORE" >/dev/null; replica mount d "$MNT" >/dev/null
                    content_is "$MNT/warm" warm; settle
                    dd if=/dev/zero of=disk/filler bs=64K status=none 2>/dev/null || true
                    cat /dev/zero >>disk/filler 2>/dev/null || true
                    # Many names, so that what has to be recorded does not fit into what the database has.
                    for n in $(seq 400); do ln -s target "$MNT/link-with-a-long-name-so-that-it-takes-room-$n" 2>/dev/null || true; done
                    words() { replica status d >said 2>&1 && grep -q "offline: no space is left where the domain keeps its state" said; }
                    eventually words
                    finds_no -qi sqlite said
                    content_is "$MNT/cold" cold
                    replica list >said; grep -q "^d" said
                    rm disk/filler
                    idle() { replica status d | grep -q "^d  *idle"; }
                    eventually idle
                    settle; diff -r --no-dereference "$MNT" "$STORE"
                    end
                    """#)
        }
    }

    /// Without it, programs would write into the directory below.
    @Test func aDeadMountStaysIfNoNewOneCanBeMade() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                smallDisk + #"""
                    STATE=$state
                    replica add d --store "file://$STORE" >/dev/null; replica mount d "$MNT" >/dev/null
                    echo one >"$MNT/one"; settle; kill_daemon
                    dd if=/dev/zero of=disk/filler bs=64K status=none 2>/dev/null || true
                    cat /dev/zero >>disk/filler 2>/dev/null || true
                    # There may be just enough room.
                    if replica mount d "$MNT" >/dev/null 2>said; then content_is "$MNT/one" one; kill_daemon; fi
                    is_mounted
                    not touch "$MNT/lost" 2>/dev/null
                    rm disk/filler
                    # Here there is none.
                    mount -o remount,ro disk
                    not replica mount d "$MNT" >/dev/null 2>said
                    is_mounted
                    not touch "$MNT/lost" 2>/dev/null
                    mount -o remount,rw disk
                    replica mount d "$MNT" >/dev/null
                    content_is "$MNT/one" one
                    end
                    """#)
        }
    }

    @Test func theCacheLimitIsKeptWhileALargeFileIsRead() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                head -c 30000000 /dev/urandom >"$STORE/big"; head -c 1000000 /dev/urandom >"$STORE/small"
                replica add d --store "file://$STORE" -o cache-max=4M >/dev/null; replica mount d "$MNT" >/dev/null
                cmp "$MNT/small" "$STORE/small"
                cmp "$MNT/big" "$STORE/big" & reader=$!
                while kill -0 $reader 2>/dev/null; do
                    test "$(du -s -B1 "$TREE" | cut -f1)" -lt 4200000
                done
                wait $reader
                test "$(du -s -B1 "$TREE" | cut -f1)" -lt 4200000
                equal "$(getfattr --only-values -n user.replica.state "$MNT/small")" materialized
                unmount_it
                """#)
        }
    }
}
