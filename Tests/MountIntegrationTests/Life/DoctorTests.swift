import Testing

/// `replica doctor` on machines and with domains that have problems. The machine is only changed in a private mount
/// namespace.
@Suite struct DoctorTests {
    @Test func eachFaultOfTheMachineIsFound() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                doctorWords + #"""
                    have_user
                    begin; settle
                    { declare -f; cat; } >script <<'END'
                    doctor() { replica doctor "$@"; }
                    for_user() {
                        timeout 60 setpriv --reuid=replicatest --regid="$(id -g replicatest)" --clear-groups \
                            ground/bin/replica doctor "$@"
                    }
                    only_ours
                    mkdir ground none
                    mount -t tmpfs -o mode=755,dev,suid none ground
                    mknod -m 666 ground/fuse c 10 229
                    mount --bind ground/fuse /dev/fuse
                    fuse=/sys/module/fuse/parameters/enable_uring halt=/sys/module/haltpoll/parameters/guest_halt_poll_ns
                    # Installed as by root.
                    mkdir ground/bin ground/sbin ground/libexec
                    chmod 755 "$HERE"
                    cp "$BIN/replica" ground/bin
                    cp "$BIN/mount.replica" ground/sbin
                    helper=$HERE/ground/libexec/replica-passthrough
                    cp "$BIN/replica-passthrough" "$helper"
                    setcap cap_sys_admin+ep "$helper"
                    [ ! -e $fuse ] || over Y $fuse
                    over 100000 /proc/sys/fs/inotify/max_user_instances
                    over 100000000 /proc/sys/fs/inotify/max_user_watches
                    ulimit -n "$(ulimit -Hn)"
                    finds 0 "fine     device" doctor
                    finds_no -qv "^fine " said
                    XDG_DATA_HOME=$HERE/none finds 0 "fine     fusermount" for_user

                    if [ -e $fuse ]; then
                        over 2 /proc/sys/kernel/io_uring_disabled
                        finds 8 "warning  ioUring: .*io_uring_disabled=0" doctor
                        umount /proc/sys/kernel/io_uring_disabled
                        over N $fuse
                        finds 8 "warning  ioUring: .*is off.*echo 1" doctor
                        if [ -e $halt ]; then
                            over 0 $halt
                            finds 8 "warning  haltPolling: .*echo 200000" doctor
                            umount $halt
                        fi
                        umount $fuse
                    fi
                    over 0 /proc/sys/fs/inotify/max_user_watches
                    finds 8 "warning  inotify: .*max_user_watches" doctor
                    umount /proc/sys/fs/inotify/max_user_watches
                    (ulimit -n 1000; finds 8 "warning  descriptors: .*only 1000" doctor)
                    cp "$BIN/replica" ground/replica
                    touch -d 2100-01-01 ground/replica
                    finds 20 "error    clock: the clock is [0-9]+ days behind the newest local file" ground/replica doctor

                    mount --bind /dev/null /dev/fuse
                    finds 20 "error    device: .*not the FUSE device" doctor
                    umount /dev/fuse
                    chmod 600 ground/fuse
                    export XDG_DATA_HOME=$HERE/none
                    finds 20 "error    device: .*chmod 666 /dev/fuse" for_user
                    chmod 666 ground/fuse
                    over "mount_max = 0" /etc/fuse.conf
                    finds 20 "error    fuseConf: .*mount_max allows 0" for_user
                    umount /etc/fuse.conf
                    over "#user_allow_other" /etc/fuse.conf
                    over "d $MNT replica user,allow_other 0 0" /etc/fstab
                    finds 20 "error    fuseConf: .*user_allow_other" for_user
                    umount /etc/fuse.conf
                    over user_allow_other /etc/fuse.conf
                    # mount(8) may not find the program, which is another finding.
                    finds - "fine     fuseConf" for_user
                    umount /etc/fstab
                    cp /usr/bin/fusermount3 ground/fusermount3
                    mount --bind ground/fusermount3 /usr/bin/fusermount3
                    finds 20 "error    fusermount: .*chmod 4755" for_user
                    chmod 4755 ground/fusermount3
                    finds 0 "fine     fusermount" for_user
                    mount -o remount,bind,nosuid /usr/bin/fusermount3
                    finds 20 "error    fusermount: .*nosuid" for_user
                    umount /usr/bin/fusermount3
                    finds 0 "fine     passthrough" for_user
                    setcap -r "$helper"
                    finds 8 "warning  passthrough: $helper lacks CAP_SYS_ADMIN, so the daemons" for_user
                    equal "$(mend passthrough)" "sudo setcap cap_sys_admin+ep $helper"
                    eval "$(mend passthrough | sed 's/^sudo //')"
                    finds 0 "fine     passthrough" for_user
                    setcap -r "$helper"; chmod u+s "$helper"
                    finds 0 "fine     passthrough" for_user
                    mount -o remount,bind,nosuid ground
                    finds 8 "warning  passthrough: $helper is on a filesystem that is mounted nosuid" for_user
                    mount -o remount,bind,suid ground
                    mv "$helper" gone
                    finds 8 "warning  passthrough: $helper is missing, so the daemons .*scripts/install" for_user
                    finds 0 "fine     passthrough" doctor
                    over 6.12.1 /proc/sys/kernel/osrelease
                    finds 0 "fine     passthrough" for_user
                    umount /proc/sys/kernel/osrelease

                    # A mount of a domain that is not to be seen.
                    finds 0 "fine     mounts" doctor
                    kill_daemon
                    finds 20 "error    mounts: .*daemon of the mount on $MNT is gone" doctor
                    equal "$(mend mounts)" "umount -l $MNT"
                    END
                    unshare -m --propagation private bash -c '
                        set -Eeuo pipefail; trap "echo failed at \$LINENO: \$BASH_COMMAND >&2" ERR; . "$HERE/script"'
                    """#)
        }
    }

    @Test func eachFaultOfADomainIsFoundAndFixed() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                doctorWords + #"""
                    { declare -f; cat; } >script <<'END'
                    only_ours
                    # What is wrong with the machine is another test's: errors of the domain alone are looked for.
                    doctor() { replica doctor d; }
                    clean() {
                        is_answered() { doctor >said 2>&1 || true; ! grep -q "does not answer" said; }
                        eventually is_answered
                        finds_no -qE "^(error|warning) +d: " said || fail "$(cat said)"
                    }
                    begin; settle; clean
                    has said "fine     d: mount: mounted on $MNT"

                    chmod 750 "$STATE"
                    finds 20 "error    d: state: .*is accessible to other users" doctor
                    equal "$(mend state)" "chmod 700 $STATE"
                    eval "$(mend state)"; clean

                    pid=$(daemon)
                    kill -STOP "$pid"
                    trap 'kill -CONT "$pid"' EXIT
                    finds 20 "error    d: daemon: .*process $pid\) is stopped" doctor
                    equal "$(mend daemon)" "kill -CONT $pid"
                    eval "$(mend daemon)"
                    trap - EXIT
                    eventually clean

                    kill_daemon
                    finds 20 "error    d: mount: .*left a dead mount on $MNT" doctor
                    equal "$(mend mount)" "replica mount d $MNT"
                    eval "$(mend mount)"; eventually clean
                    ls "$MNT" >/dev/null

                    mv "$STORE" gone
                    finds 20 "error    d: store: $STORE: No such file or directory; if it is on another disk" doctor
                    mv gone "$STORE"; clean

                    unmount_it
                    echo secret >key; chmod 644 key
                    jq --arg o "credentials=$HERE/key" '.options = [$o]' "$STATE/domain.json" >edited
                    cat edited >"$STATE/domain.json"
                    has "$STATE/domain.json" credentials=
                    finds 20 "error    d: credentials: $HERE/key can be read by others" doctor
                    eval "$(mend credentials)"; clean
                    rm key
                    finds 20 "error    d: credentials: $HERE/key: No such file" doctor

                    # Whatever the machine: a filesystem of a MiB without a byte left, and one that can't be written.
                    mount -t tmpfs -o size=1M none "$STORE"
                    head -c 4M /dev/zero >"$STORE/all" 2>/dev/null || true
                    finds 20 "error    d: store: the disk of $STORE is full" doctor
                    mount -o remount,ro "$STORE"
                    finds 20 "error    d: store: $STORE can't be written" doctor
                    umount "$STORE"
                    cp "$STATE/domain.json" good
                    echo '{' >"$STATE/domain.json"
                    finds 20 "error    d: state: .* can't be read: domain.json is damaged" doctor
                    equal "$(mend state)" '${EDITOR:-editor} '"$STATE/domain.json"
                    printf '#!/bin/sh\ncat "%s/good" >"$1"\n' "$HERE" >by-hand; chmod 755 by-hand
                    EDITOR=$HERE/by-hand; eval "$(mend state)"; unset EDITOR
                    finds - "fine     d: state" doctor
                    echo '{' >"$STATE/domain.json"
                    replica doctor d --json >said 2>/dev/null || true
                    has said '{"check":"state","command":"${EDITOR:-editor} '
                    has said ',"domain":"d","message":'
                    END
                    unshare -m --propagation private bash -c '
                        set -Eeuo pipefail; trap "echo failed at \$LINENO: \$BASH_COMMAND >&2" ERR; . "$HERE/script"'
                    """#)
        }
    }
}
