import Testing

/// A domain's mount is identified exactly, not by its path.
@Suite struct OwnMountTests {
    /// Common functions of the scripts: a second domain, `e`, and the topmost mount at a path.
    private let words = #"""
        add_e() { mkdir -p store2; replica add e --store "file://$HERE/store2" >/dev/null; }
        on_top() { awk -v at="$1" '$5 == at { for (n = 7; $n != "-"; n++); found = $(n + 1) " " $(n + 2) } END { print found }' \
            /proc/self/mountinfo; }

        """#

    @Test func anOccupiedMountpointIsRefused() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    begin; add_e
                    refused 32 "$MNT: d (fuse.replica) is mounted there already" replica mount e "$MNT"
                    refused 32 "already" mount_replica d "$MNT"
                    ln -s "$MNT" link
                    refused 32 "mounted there already" replica mount e link
                    echo fine >"$MNT/file"
                    mkdir tmp; mount -t tmpfs some tmp
                    refused 32 "some (tmpfs) is mounted there already" replica mount e tmp
                    equal "$(on_top "$HERE/tmp")" "tmpfs some"
                    # The kernel's escapes in the table of mounts are decoded.
                    umount tmp; mount -t tmpfs $'so\e[2J\nme' tmp
                    refused 32 "so [2J me (tmpfs) is mounted there already" mount_replica e tmp
                    umount tmp; mount --bind store2 tmp
                    refused 32 "is mounted there already" replica mount e tmp
                    umount tmp
                    replica mount e tmp >/dev/null
                    content_is "$MNT/file" fine
                    umount tmp
                    """#)
        }
    }

    /// Of two that mount at the same time, one has the directory, and the other leaves nothing.
    private let race = #"""
        race() {
            local round one two top
            for round in $(seq 12); do
                one=0 two=0
                mount_replica d "$MNT" >said1 2>&1 & first=$!
                mount_replica e "$MNT" >said2 2>&1 & second=$!
                wait $first || one=$?
                wait $second || two=$?
                equal "$(printf '%s\n' $one $two | sort -n | xargs)" "0 32" || fail "$(cat said1 said2)" || return 1
                equal "$(awk -v at="$MNT" '$5 == at' /proc/self/mountinfo | wc -l)" 1 || return 1
                grep -qE "^mount.replica: $MNT: $1" said1 said2 || fail "$(cat said1 said2)" || return 1
                top=$(on_top "$MNT")
                replica unmount "${top#* }" >/dev/null
                not is_mounted
            done
        }

        """#

    @Test func concurrentMountsAreNotStacked() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + race + "import_it; settle; add_e; race '[de] .fuse.replica. is mounted there already'")
        }
    }

    @Test func concurrentMountsOfAUserAreNotStacked() async throws {
        try await Trial.run { trial in
            // fusermount3 refuses it too.
            let line = "([de] .fuse.replica. is mounted there already|fusermount3: )"
            try await trial.shell(
                words + race + "as_replicatest <<'END'\nimport_it; settle; add_e; race '\(line)'\nEND")
        }
    }

    /// There the daemon would deadlock with itself.
    @Test func theDomainsFoldersAreRefusedAsMountpoints() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                mkdir "$SRC/sub"; begin; settle; unmount_it
                for place in "$STATE" "$STATE/tree" "$STATE/tree/sub" "$STATE/kept"; do
                    refused 32 "$place is in the state of a domain" mount_replica d "$place"
                done
                above=$(dirname "$STATE")
                refused 32 "$above overlaps the domain's state, $STATE" mount_replica d "$above"
                for place in "$STORE" "$STORE/sub"; do
                    refused 32 "$place overlaps the store, $STORE" mount_replica d "$place"
                done
                mount_it; ls "$MNT/sub"
                """#)
        }
    }

    /// The mount was removed, and another filesystem is at its path.
    @Test func unmountAndRemoveKeepTheMountsOfOthers() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    echo one >"$SRC/one"
                    begin; add_e
                    umount "$MNT"
                    replica mount e "$MNT" >/dev/null
                    equal "$(on_top "$MNT")" "fuse.replica e"
                    replica unmount d || not test -e "$STATE/control.sock"
                    no_daemon
                    equal "$(on_top "$MNT")" "fuse.replica e"
                    echo fine >"$MNT/file"
                    replica remove d --keep none
                    content_is "$MNT/file" fine
                    replica unmount e
                    not is_mounted
                    """#)
        }
    }

    /// After an import the domain is served without a mount, and its daemon answers.
    @Test(arguments: ["unmount", "remove --keep none"])
    func anAlreadyUnmountedMountIsNotAnError(command: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    begin
                    pid=$(daemon)
                    umount "$MNT"
                    mount -t tmpfs other "$MNT"
                    replica \#(command) d
                    equal "$(on_top "$MNT")" "tmpfs other"
                    gone "$pid"
                    equal "$(on_top "$MNT")" "tmpfs other"
                    umount "$MNT"
                    not is_mounted
                    """#)
        }
    }

    /// The mount is unmounted correctly below another one, and after it was moved.
    @Test func overmountsStayAndMovedMountsAreFound() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    begin
                    mount -t tmpfs over "$MNT"
                    not replica unmount d 2>/dev/null
                    equal "$(on_top "$MNT")" "tmpfs over"
                    umount "$MNT"
                    equal "$(on_top "$MNT")" "fuse.replica d"
                    mkdir moved
                    cat >inside <<'END'
                    mount --make-rprivate /
                    mount_it
                    mount --move "$MNT" moved
                    mount -t tmpfs other "$MNT"
                    replica unmount d
                    prints "" on_top "$HERE/moved"
                    equal "$(on_top "$MNT")" "tmpfs other"
                    END
                    replica unmount d
                    no_daemon
                    declare -f >words
                    unshare -m bash -Eeuo pipefail -c 'trap "echo failed at $LINENO >&2" ERR; leave_others; . ./words; . ./inside'
                    not is_mounted
                    """#)
        }
    }

    /// A killed daemon leaves its mount; the next mount at that path is not the daemon's.
    @Test func aDeadMountIsIdentifiedByItsNumber() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    begin; add_e
                    kill_daemon
                    umount -l "$MNT"
                    replica mount e "$MNT" >/dev/null
                    not replica unmount d 2>/dev/null
                    equal "$(on_top "$MNT")" "fuse.replica e"
                    echo fine >"$MNT/file"
                    replica unmount e >/dev/null
                    mount_it; kill_daemon
                    equal "$(on_top "$MNT")" "fuse.replica d"
                    replica unmount d
                    not is_mounted
                    """#)
        }
    }
}
