import Testing

/// The options of mount(8), and what the mounted filesystem then does.
@Suite struct MountOptionTests {
    private let words = #"""
        # The flags of the mount, those of its filesystem and its source.
        flags() { awk -v at="$MNT" '$5 == at { for (n = 7; $n != "-"; n++); print "," $6 "," $(n + 3) "," $(n + 2) "," }' \
            /proc/self/mountinfo; }
        flagged() { case $(flags) in *",$1,"*) ;; *) fail "no $1 in $(flags)" ;; esac; }
        not_flagged() { case $(flags) in *",$1,"*) fail "$1 in $(flags)" ;; esac; }
        with() { mount_replica d "$MNT" -o "$1" || fail "-o $1"; }
        unmounted() { umount "$MNT"; no_daemon; }

        """#

    @Test func theMountHasTheRequestedFlags() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    import_it; end_daemon
                    with rw; for flag in nosuid nodev relatime; do flagged $flag; done; unmounted
                    with dev,suid; not_flagged nodev; not_flagged nosuid
                    with remount,noexec; flagged noexec; not_flagged nodev; not_flagged nosuid
                    with remount,nosuid; not_flagged noexec; not_flagged nodev; flagged nosuid; unmounted
                    with suid,nosuid,noexec; flagged nosuid; flagged nodev; flagged noexec; unmounted
                    with relatime; flagged relatime; unmounted
                    with noatime; flagged noatime; not_flagged relatime; unmounted
                    with strictatime,nodiratime; not_flagged relatime; not_flagged noatime; flagged nodiratime; unmounted
                    with lazytime,nosymfollow; flagged lazytime; flagged nosymfollow; unmounted
                    with sync,dirsync,ro; flagged sync; flagged dirsync; flagged ro; unmounted
                    with defaults,atime,diratime,norelatime,nostrictatime,nolazytime,symfollow,async,nodirsync,exec
                    flagged relatime; not_flagged sync; unmounted
                    with 'fsname=some thing\, else'; flagged 'some\040thing,\040else'; unmounted
                    refused 1 "unknown option 'frob'" mount_replica d "$MNT" -o relatime,frob
                    not is_mounted
                    """#)
        }
    }

    @Test func optionsApplyToARunningDaemon() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    import_it
                    replica mount d "$MNT" -o dev,noatime,fsname=name >/dev/null
                    flagged noatime; flagged name; not_flagged nodev
                    umount "$MNT"
                    """#)
        }
    }

    @Test func devicesProgramsAndLinksFollowTheOptions() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    have_user; import_it; end_daemon
                    with rw,allow_other,dev,suid
                    cp /usr/bin/id "$MNT/id"; chmod 4755 "$MNT/id"
                    mknod "$MNT/null" c 1 3
                    ln -s id "$MNT/link"
                    who() { setpriv --reuid=replicatest --clear-groups "$MNT/id" -u; }
                    equal "$(who)" 0
                    echo text >"$MNT/null"
                    "$MNT/link" -u >/dev/null
                    unmounted
                    with allow_other,nosymfollow
                    equal "$(who)" "$(id -u replicatest)"
                    not sh -c 'echo text >"$MNT/null"' 2>/dev/null
                    not "$MNT/link" -u 2>/dev/null
                    equal "$(readlink "$MNT/link")" id
                    unmounted
                    with noexec
                    not "$MNT/id" -u 2>/dev/null
                    unmounted
                    """#)
        }
    }

    /// Root's files are read through the kernel's passthrough.
    @Test func accessTimesFollowTheOption() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    echo text >"$SRC/file"
                    import_it; end_daemon
                    # The access time after a read of a file whose access time is as $1 says and whose change is of 2001.
                    read_at() {
                        touch -m -d 2001-01-01 "$TREE/file"; touch -a -d "$1" "$TREE/file"
                        cat "$MNT/file" >/dev/null
                        stat -c %X "$TREE/file"
                    }
                    changes() { [ "$(read_at "$1")" -gt "$(date -d "$1" +%s)" ] || fail "$(flags) does not change it"; }
                    keeps() { equal "$(read_at "$1")" "$(date -d "$1" +%s)"; }
                    recent=$(date -d '-2 hours' '+%Y-%m-%d %H:%M:%S')
                    with noatime; keeps 2000-01-01; keeps "$recent"; unmounted
                    # overlayfs follows the mount of its upper layer.
                    [ "$(stat -f -c %T "$TREE")" != overlayfs ] || exit 0
                    with strictatime; changes 2000-01-01; changes "$recent"; unmounted
                    # A touch changes the file's status, so that the time is older than that.
                    with relatime; changes 2000-01-01; unmounted
                    """#)
        }
    }

    @Test func theOptionsOfRootAreRefusedToOthers() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    as_replicatest <<'END'
                    import_it; end_daemon
                    for option in dev suid strictatime lazytime nosymfollow; do
                        refused 32 "only root may mount with '$option'" mount_replica d "$MNT" -o "$option"
                        not is_mounted
                        no_daemon
                    done
                    mount_replica d "$MNT" -o relatime,noatime,nodiratime,fsname=name,nolazytime,sync,dirsync,noexec
                    flagged name; flagged noatime; flagged sync
                    echo text >"$MNT/file"; content_is "$MNT/file" text
                    fusermount3 -u "$MNT"; no_daemon
                    mount_replica d "$MNT" -o atime,diratime,norelatime,nostrictatime,symfollow,async,nodirsync,exec,rw
                    fusermount3 -u "$MNT"; no_daemon
                    END
                    """#)
        }
    }
}
