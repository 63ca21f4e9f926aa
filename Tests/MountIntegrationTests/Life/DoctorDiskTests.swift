import Testing

/// `replica doctor` where the disk of a domain's state is full, read-only, without attributes, or doesn't answer.
@Suite struct DoctorDiskTests {
    private static let words =
        doctorWords + #"""
            # A disk of its own for the state, with room for 64 MiB, and a file of 40 MiB in the store.
            small_disk() {
                mount -t tmpfs -o size=64M,mode=755 none data
                head -c 40M /dev/urandom >"$STORE/big"
                replica add d --store "file://$STORE" >/dev/null
                mount_it
                in_time test -e "$MNT/big"
                settle
            }
            # The same with ext4, which gives freed blocks back later.
            small_ext4() {
                truncate -s 96M image
                mkfs.ext4 -q -m 0 -N 2000 image
                mount -o loop image data
                chmod 755 data
                head -c 40M /dev/urandom >"$STORE/big"
                replica add d --store "file://$STORE" >/dev/null
                mount_it
                in_time test -e "$MNT/big"
                settle
            }
            # Until not even a block can be added. ext4 gives some back when it has written what was to be written.
            fill_all() {
                local round
                for round in 1 2 3; do
                    cat /dev/zero >>data/filler 2>/dev/null || true
                    while head -c 1024 /dev/zero >>data/filler 2>/dev/null; do :; done
                    sync -f data
                done
                [ $(($(stat -f -c '%a * %S' data))) -lt 8192 ] || fail "$(stat -f data)"
            }
            # fill BYTES: leaves no more room than that.
            fill() {
                local free
                free=$(($(stat -f -c '%a * %S' data)))
                head -c $((free - $1)) /dev/zero >data/filler 2>/dev/null || [ "$1" = 0 ]
            }

            """#

    @Test func theFixFreesAFullDisk() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    privately <<'END'
                    only_ours
                    small_disk
                    # Nothing can be recorded on a full disk, and what is not recorded is not evicted.
                    is_here() { cmp "$MNT/big" "$STORE/big"; replica status d | grep -q 'of which 40.0 MiB here'; }
                    eventually is_here
                    settle
                    mended disk doctor_d
                    fill 2000000
                    finds - "warning  d: disk: the disk of $STATE has only 1[.][0-9] MiB left" doctor_d
                    equal "$(mend disk)" "replica evict d:"
                    follow disk doctor_d
                    rm data/filler
                    eventually is_here
                    settle
                    fill 0
                    finds 20 "error    d: disk: the disk of $STATE is full" doctor_d
                    equal "$(mend disk)" "replica evict d:"
                    follow disk doctor_d
                    rm data/filler
                    cmp "$MNT/big" "$STORE/big"
                    # A state of an earlier version: without a daemon, something else has to go first.
                    settle; umount "$MNT"; end_daemon; no_daemon
                    rm "$STATE/reserve"
                    fill 0
                    finds 20 "error    d: disk: the disk of $STATE is full, and no daemon can start there: remove another file" doctor_d
                    no_mend disk
                    truncate -s -1M data/filler
                    replica evict d: >/dev/null
                    mended disk doctor_d
                    END
                    """#)
        }
    }

    /// The reserve is given back for the start, and made again.
    @Test(arguments: ["small_disk", "small_ext4"])
    func aDaemonStartsOnAFullDisk(disk: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + "DISK=\(disk)\n" + #"""
                    export DISK
                    privately <<'END'
                    only_ours
                    $DISK
                    is_here() { cmp "$MNT/big" "$STORE/big"; replica status d | grep -q 'of which 40.0 MiB here'; }
                    eventually is_here
                    for round in 1 2; do
                        settle
                        eventually test -e "$STATE/reserve"
                        umount "$MNT"; end_daemon; no_daemon
                        fill_all
                        finds 20 "error    d: disk: the disk of $STATE is full" doctor_d
                        equal "$(mend disk)" "replica evict d:"
                        follow disk doctor_d
                        rm data/filler
                        mount_it
                        eventually is_here
                    done
                    # Mounting works too, and then evicting.
                    settle; eventually test -e "$STATE/reserve"
                    umount "$MNT"; end_daemon; no_daemon
                    fill_all
                    mount_it
                    not test -e "$STATE/reserve"
                    replica evict "$MNT/big" >/dev/null
                    mended disk doctor_d
                    END
                    """#)
        }
    }

    /// Evicting frees no inodes.
    @Test func missingInodesAreReportedAsSuch() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    privately <<'END'
                    only_ours
                    small_disk
                    used() { echo $(($(stat -f -c '%c - %d' data))); }
                    mount -o remount,nr_inodes=$(($(used) + 10)) data
                    finds 20 "error    d: disk: the disk of $STATE has no inodes left" doctor_d
                    no_mend disk
                    mount -o remount,nr_inodes=$(($(used) + 500)) data
                    finds - "warning  d: disk: the disk of $STATE has only [0-9]+ inodes left" doctor_d
                    no_mend disk
                    mount -o remount,nr_inodes=100000 data
                    mended disk doctor_d
                    END
                    """#)
        }
    }

    @Test func theFixMakesAReadOnlyDiskWritable() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    privately <<'END'
                    only_ours
                    small_disk
                    # findmnt(1) shows both.
                    mount --bind data data
                    mount -o remount,bind,ro data
                    finds 20 "error    d: disk: $STATE can't be written" doctor_d
                    follow disk doctor_d
                    END
                    """#)
        }
    }

    /// ramfs has no attributes and tells no free space; which makes it no full disk.
    @Test func aDiskWithoutAttributesIsFound() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    privately <<'END'
                    only_ours
                    import_it; settle; end_daemon
                    mkdir other
                    mount -t ramfs none other
                    chmod 755 other
                    cp -a data/replica other
                    elsewhere() { XDG_DATA_HOME=$HERE/other replica doctor d; }
                    finds 20 "error    d: disk: .*other/replica/d: the filesystem lacks extended attributes" elsewhere
                    no_mend disk
                    END
                    """#)
        }
    }

    /// The disk's own answers are replaced by strace(1).
    @Test func aDiskThatFailsOrHangsIsFound() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    privately <<'END'
                    only_ours
                    import_it; settle
                    with() { strace -f -qq -o trace -e "trace=$1" -e "inject=$1:$2" -P "$STATE" "$BIN/replica" doctor d; }
                    finds 20 "error    d: disk: $STATE: Input/output error" with statfs error=EIO
                    finds 20 "error    d: disk: $STATE does not answer" with statfs delay_enter=60s
                    # The process that asks it more.
                    finds 20 "error    d: disk: $STATE does not answer" with getxattr delay_enter=60s
                    mended disk doctor_d
                    END
                    """#)
        }
    }
}
