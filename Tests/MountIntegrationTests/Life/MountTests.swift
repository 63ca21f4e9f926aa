import Testing

/// Coming and going of mounts and daemons.
@Suite struct MountTests {
    @Test func aDomainHasOneDaemonAndOneMountpoint() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                mkdir "$HERE/mnt2"
                refused 12 "replica: d is already mounted on $MNT" replica mount d "$HERE/mnt2"
                refused 32 "mount.replica: d is already mounted on $MNT" mount_replica d "$HERE/mnt2"
                # Without the socket the lock still tells.
                mv "$STATE/control.sock" "$STATE/aside"
                refused 32 "" mount_replica d "$HERE/mnt2"
                mv "$STATE/aside" "$STATE/control.sock"
                prints "" ls -A "$HERE/mnt2"
                echo fine >"$MNT/file"
                """)
        }
    }

    @Test func aDeadMountIsRemovedByTheNextMount() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/one"
                begin
                for round in 1 2 3; do
                    echo "$round" >"$MNT/file$round"
                    kill_daemon
                    not ls "$MNT" 2>/dev/null
                    if [ $round = 2 ]; then mount_replica d "$MNT"; else mount_it; fi
                    equal "$(awk -v at="$MNT" '$2 == at' /proc/self/mounts | wc -l)" 1
                    for n in $(seq $round); do content_is "$MNT/file$n" "$n"; done
                done
                content_is "$MNT/one" one
                settle; same
                """)
        }
    }

    @Test func anUnreachableStoreDoesNotDelayTheMount() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/one"
                begin; settle; unmount_it
                mv "$STORE" "$HERE/away"
                mount_it
                content_is "$MNT/one" one
                echo two >"$MNT/two"; rm "$MNT/one"
                offline() { replica status d --json | grep -q '"state":"offline"'; }
                eventually offline
                not test -e "$STORE"
                mv "$HERE/away" "$STORE"
                replica retry d
                settle; same
                content_is "$STORE/two" two
                """)
        }
    }

    @Test func aSignalLosesNothingPending() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                for n in $(seq 100); do echo "$n" >"$MNT/file$n"; done
                pid=$(daemon); kill -TERM "$pid"; gone "$pid"
                not is_mounted
                mount_it
                equal "$(ls "$MNT" | wc -l)" 100
                settle; same
                """)
        }
    }

    @Test func changesInTheStoreDoNotKeepTheMountBusy() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                # Where no `replica doctor` of another test can look at the mount.
                { declare -f; cat; } >script <<'END'
                leave_others
                begin; settle
                for round in 1 2 3; do
                    (n=0; while :; do echo "$((n += 1))" >"$STORE/f$((n % 50))"; sleep 0.002; done) &
                    writer=$!
                    eventually test -e "$MNT/f40"
                    umount "$MNT" || { kill -9 $writer; fail "busy in round $round"; }
                    kill -9 $writer
                    wait $writer || true
                    end_daemon
                    rm "$STORE"/f*
                    mount_it; settle
                done
                unmount_it
                END
                unshare --mount --propagation private bash -Eeuo pipefail -c '
                    trap "echo failed at \$LINENO: \$BASH_COMMAND >&2" ERR; . "$HERE/script"'
                """#)
        }
    }

    @Test func aForegroundDaemonLogsAndEndsWithTheMount() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                import_it; end_daemon
                "$BIN/mount.replica" d "$MNT" -o foreground 2>"$HERE/log" &
                eventually is_mounted
                echo text >"$MNT/file"
                umount "$MNT"
                wait $!
                not is_mounted
                """)
        }
    }

    @Test func invalidCommandLinesPrintOneLine() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                import_it
                refused 1 "nonsense" mount_replica d "$MNT" -o nonsense
                refused 1 "usage" mount_replica d
                refused 1 "-q" mount_replica d "$MNT" -q
                refused 32 "no domain" mount_replica nobody "$MNT"
                refused 32 "No such file" mount_replica d "$HERE/nothing"
                refused 32 "" mount_replica d "$HERE/output"
                refused 32 "no domain is mounted there" mount_replica d "$MNT" -o remount
                refused 1 "size" mount_replica d "$MNT" -o cache-max=lots
                refused 3 "no domain" replica mount nobody "$MNT"
                refused 3 "no domain" replica wait nobody
                refused 64 "" replica mount d
                not is_mounted
                mount_replica d "$MNT" -f
                not is_mounted
                mount_replica d "$MNT" -s -o nonsense,noatime
                is_mounted
                """)
        }
    }

    @Test func aRemountChangesTheFlags() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                echo one >"$SRC/one"; mkdir "$SRC/seen"
                import_it; mount_it -o allow_other
                mkdir "$HERE/sbin"
                for name in mount.replica mount.fuse.replica; do ln -s "$BIN/mount.replica" "$HERE/sbin/$name"; done
                cat >"$HERE/inside" <<'END'
                mount -t overlay none -o "lowerdir=$HERE/sbin:/usr/sbin" /usr/sbin
                settle
                exec 3>"$MNT/open"
                # By the place alone mount(8) asks with all that the mount table says.
                got=0; mount -o remount,ro "$MNT" 2>"$HERE/said" || got=$?
                equal "$got" 32
                equal "$(cat "$HERE/said")" "mount.replica: $MNT: a file there is open for writing"
                echo text >&3; exec 3>&-
                eventually mount -o remount,ro "$MNT" 2>/dev/null
                refused 1 "Read-only" touch "$MNT/two"
                refused 1 "Read-only" rm "$MNT/one"
                # What the store changes is seen all the same.
                ls "$MNT/seen"
                echo theirs >"$STORE/seen/new"; rm "$STORE/one"
                eventually content_is "$MNT/seen/new" theirs
                gone_here() { ! test -e "$MNT/one"; }
                eventually gone_here
                mount -t replica -o remount,rw,noexec d "$MNT"
                awk -v at="$MNT" '$2 == at { print $4 }' /proc/self/mounts | grep '^rw,.*noexec'
                echo two >"$MNT/two"
                settle; same
                refused 32 "mount.replica: $STORE: no domain is mounted there" mount_replica d "$STORE" -o remount,ro
                END
                declare -f >"$HERE/words"
                unshare -m bash -Eeuo pipefail -c '
                    trap "echo failed at $LINENO >&2" ERR; leave_others; . "$HERE/words"; . "$HERE/inside"'
                """#)
        }
    }

    /// Its state can be copied then.
    @Test func anUnmountReturnsWhenTheDaemonHasEnded() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                begin; settle
                pid=$(daemon)
                replica unmount d
                case $(awk '/^State/ { print $2 }' "/proc/$pid/status" 2>/dev/null) in "" | Z) ;; *) fail "still there" ;; esac
                not test -e "$STATE/control.sock"
                """#)
        }
    }

    @Test func fstabAndMountAndUmountWork() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                echo one >"$SRC/one"
                import_it; end_daemon
                mkdir "$HERE/sbin" "$HERE/mnt2"
                ln -s "$BIN/mount.replica" "$HERE/sbin/mount.replica"
                line="d $MNT replica noauto,user,_netdev,nofail,x-systemd.automount,x-systemd.idle-timeout=60"
                printf '%s,state=%s 0 0\n' "$line" "$STATE" >"$HERE/fstab"
                cat >"$HERE/inside" <<'END'
                mount -t overlay none -o "lowerdir=$HERE/sbin:/usr/sbin" /usr/sbin
                mount --bind "$HERE/fstab" /etc/fstab
                mount "$MNT"
                is_mounted
                content_is "$MNT/one" one
                awk -v at="$MNT" '$2 == at { print $3, $4 }' /proc/self/mounts | grep '^fuse.replica .*nosuid'
                umount "$MNT"
                no_daemon
                # mount(8) makes a path of a name that is an entry of the working directory.
                mkdir d
                mount -t replica -o ro,allow_other d "$MNT"
                refused 1 "Read-only" touch "$MNT/file"
                content_is "$MNT/one" one
                fusermount3 -u "$MNT"
                no_daemon
                mkdir -p other/d
                refused 1 "'$HERE/other/d' is neither the name of a domain nor the URL of a store" \
                    mount -t replica "$HERE/other/d" "$MNT"
                not is_mounted
                got=0; mount -t replica -o nonsense d "$MNT" 2>/dev/null || got=$?
                equal $got 1
                END
                declare -f >"$HERE/words"
                unshare -m bash -Eeuo pipefail -c '
                    trap "echo failed at $LINENO >&2" ERR; leave_others; . "$HERE/words"; . "$HERE/inside"'
                """#)
        }
    }
}
