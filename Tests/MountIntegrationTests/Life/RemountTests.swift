import Testing

/// `mount -o remount`, and mounts that a running daemon makes: each option is applied, or refused with the command that applies it.
@Suite struct RemountTests {
    private let words = #"""
        with() { mount_replica d "$MNT" -o "$1" || fail "-o $1"; }
        # The content that is on this disk, in KiB.
        here() { du -sk "$TREE" | cut -f1; }
        is_small() { [ "$(here)" -lt 2000 ]; }
        ask() {
            python3 -c 'import socket, sys
        daemon = socket.socket(socket.AF_UNIX); daemon.connect(sys.argv[1]); daemon.sendall(sys.argv[2].encode() + b"\n")
        print(daemon.makefile().readline())' "$STATE/control.sock" "$1"
        }

        """#

    @Test func theLimitsOfTheCacheChangeAtOnce() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    head -c 8M /dev/urandom >"$SRC/big"; begin; settle
                    [ "$(here)" -gt 8000 ] || fail "nothing to evict"
                    with remount,cache-max=1M
                    eventually is_small
                    with remount,cache-max=100M,cache-min-free=1M
                    cmp "$MNT/big" "$STORE/big"
                    is_large() { [ "$(here)" -gt 8000 ]; }
                    eventually is_large
                    with remount,cache-min-free=100000T
                    eventually is_small
                    """#)
        }
    }

    /// What would change nothing is no error: mount(8) adds the options of fstab.
    @Test func whatCannotChangeIsRefused() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    echo secret >login; chmod 600 login
                    begin; settle
                    for option in nohydrate=cat enforce_caps trust_setid "credentials=$HERE/login"; do
                        refused 32 "${option%%=*} can't change while d is served: 'replica unmount d', then mount it with the option" \
                            mount_replica d "$MNT" -o "remount,$option"
                    done
                    for option in foreground allow_other fsname=other; do
                        refused 32 "$MNT: ${option%%=*} can't change while it is mounted: 'umount $MNT', then mount it with the option" \
                            mount_replica d "$MNT" -o "remount,$option"
                    done
                    refused 32 "$MNT: nothing was changed: the options of the domain belong to the user who mounted it, whose daemon must run" \
                        env XDG_DATA_HOME="$HERE/none" "$BIN/mount.replica" d "$MNT" -o remount,cache-max=1M
                    # As mount(8) does for a line of fstab with options of the domain.
                    refused 32 "$MNT: only the flags of the mount were changed: the options of the domain" \
                        env XDG_DATA_HOME="$HERE/none" "$BIN/mount.replica" d "$MNT" -o remount,nodiratime,cache-max=1M
                    grep -q " $MNT fuse.replica .*nodiratime" /proc/self/mounts
                    ask '{"protocol":1,"id":1,"request":{"mount":{"mountpoint":"/elsewhere","options":["remount"]}}}' >said
                    has said "d is not mounted on /elsewhere"
                    refused 32 "domain d has another store" mount_replica d "$MNT" -o remount,store=file:///elsewhere
                    refused 32 "trust_setid" mount_replica d "$MNT" -o remount,noexec,trust_setid,cache-max=1M
                    finds_no -q " $MNT fuse.replica .*noexec" /proc/self/mounts
                    for same in noenforce_caps notrust_setid fsname=d "store=file://$STORE" create "import=$SRC" "state=$STATE"; do
                        with "remount,$same"
                    done
                    replica unmount d >/dev/null; no_daemon
                    with allow_other,fsname=name,enforce_caps,trust_setid,nohydrate=cat
                    for same in allow_other fsname=name enforce_caps trust_setid nohydrate=cat; do with "remount,$same"; done
                    for other in noenforce_caps notrust_setid nohydrate=; do
                        refused 32 "can't change while d is served" mount_replica d "$MNT" -o "remount,$other"
                    done
                    """#)
        }
    }

    @Test func theSameHoldsForAMountByARunningDaemon() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    head -c 8M /dev/urandom >"$SRC/big"; import_it; settle
                    refused 32 "trust_setid can't change while d is served: 'replica unmount d', then mount it with the option" \
                        mount_replica d "$MNT" -o trust_setid
                    not is_mounted
                    with cache-max=1M,nohydrate=cat
                    eventually is_small
                    """#)
        }
    }
}
