import Testing

/// `replica doctor` where what is needed is missing, or may not be opened by its user.
@Suite struct DoctorPlaceTests {
    @Test func theFixGivesTheUserAccess() async throws {
        try await Trial.runDoctor(
            withUser: true,
            #"""
            import_it; settle; end_daemon
            printf 'access_key=a\nsecret_key=b\n' >key; chmod 600 key
            jq --arg o "credentials=$HERE/key" '.options = [$o]' "$STATE/domain.json" >edited
            cat edited >"$STATE/domain.json"
            chown -R replicatest "$HERE"
            for_user() { as_user "$BIN/replica" doctor d; }
            mended state for_user; mended credentials for_user
            chmod 000 "$TREE"
            finds 20 "error    d: state: $TREE can't be opened by its user" for_user
            equal "$(mend state)" "chmod u+rx $TREE"
            follow state for_user
            chmod 700 "$TREE"; chown root "$TREE"
            finds 20 "error    d: state: $TREE can't be opened by its user" for_user
            equal "$(mend state)" "sudo chown $(id -u replicatest) $TREE && chmod u+rx $TREE"
            follow state for_user
            chmod 400 "$STATE/replica.db"
            finds 20 "error    d: state: $STATE/replica.db can't be opened by its user" for_user
            follow state for_user

            chmod 200 key
            finds 20 "error    d: credentials: $HERE/key can't be read by its user" for_user
            equal "$(mend credentials)" "chmod 600 $HERE/key"
            follow credentials for_user
            chown root key
            finds 20 "error    d: credentials: $HERE/key can't be read by its user" for_user
            equal "$(mend credentials)" "sudo chown $(id -u replicatest) $HERE/key"
            follow credentials for_user
            """#)
    }

    /// The program that mounts, and the name by which mount(8) finds it.
    @Test func aProgramThatIsMissingIsFound() async throws {
        try await Trial.runDoctor(
            #"""
            export XDG_DATA_HOME=$HERE/none
            mkdir ground upper work
            mount -t overlay -o "lowerdir=/usr/sbin,upperdir=$HERE/upper,workdir=$HERE/work" none /usr/sbin
            rm -f /usr/sbin/mount.replica /usr/sbin/mount.fuse.replica
            mount -t tmpfs -o mode=755 none /usr/local/sbin
            install -D "$BIN/replica" place/bin/replica
            doctor() { place/bin/replica doctor; }
            finds 20 "error    program: mount.replica was found neither next to this program nor in /sbin" doctor
            equal "$(mend program)" "scripts/install --prefix $HERE/place"
            install -D "$BIN/mount.replica" place/sbin/mount.replica
            mended program doctor
            over "d $MNT replica nofail 0 0" /etc/fstab
            finds 20 "error    program: fstab has a domain on $MNT, but mount\(8\) does not find mount.replica" doctor
            follow program doctor
            equal "$(readlink /sbin/mount.replica)" "$HERE/place/sbin/mount.replica"
            """#)
    }

    /// A place of fstab that is missing, and a store on a disk of fstab that is not mounted.
    @Test func theFixMountsLinesOfFstab() async throws {
        try await Trial.runDoctor(
            #"""
            import_it; settle; end_daemon
            mkdir -p ground backing/store "the disk"
            over "d $HERE/a\\040place replica nofail 0 0" /etc/fstab
            finds 20 "error    d: mount: $HERE/a place, where it is to be mounted, is missing" doctor_d
            equal "$(mend mount)" "mkdir -p '$HERE/a place'"
            follow mount doctor_d
            umount /etc/fstab
            over "$HERE/backing $HERE/the\\040disk none bind 0 0" /etc/fstab
            set_store "file://$HERE/the%20disk/store"
            finds 20 "error    d: store: $HERE/the disk/store is missing, and the disk of $HERE/the disk is not mounted" doctor_d
            equal "$(mend store)" "mount '$HERE/the disk'"
            follow store doctor_d
            """#)
    }

    @Test func aClockThatIsAheadIsFound() async throws {
        try await Trial.runDoctor(
            #"""
            export XDG_DATA_HOME=$HERE/none
            mount -t tmpfs -o mode=755 none /sys/class
            mkdir -p /sys/class/rtc/rtc0
            set_clock() { echo $(($(date +%s) - $1)) >/sys/class/rtc/rtc0/since_epoch; }
            # It may run in the time of the place where it is.
            set_clock 50400
            mended clock replica doctor
            set_clock 259500
            finds - "warning  clock: the clock is 3 days ahead of the machine's hardware clock" replica doctor
            equal "$(mend clock)" "timedatectl set-ntp true"
            """#)
    }

    /// Root may not enter it, and is told of no error.
    @Test func aUsersDeadMountIsFoundByRoot() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                doctorWords + #"""
                    have_user
                    chown -R replicatest "$HERE"
                    privately <<'END'
                    only_ours
                    mkdir ground; mount -t tmpfs -o mode=755,dev none ground
                    mknod -m 666 ground/fuse c 10 229; mount --bind ground/fuse /dev/fuse
                    as_user "$BIN/replica" import d "$SRC" --store "file://$STORE" >/dev/null
                    as_user "$BIN/replica" mount d "$MNT" >/dev/null
                    elsewhere() { XDG_DATA_HOME=$HERE/none replica doctor; }
                    mended mounts elsewhere
                    kill_daemon
                    finds 20 "error    mounts: the daemon of the mount on $MNT is gone" elsewhere
                    equal "$(mend mounts)" "umount -l $MNT"
                    follow mounts elsewhere
                    not is_mounted
                    END
                    """#)
        }
    }
}
