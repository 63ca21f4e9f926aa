import Testing

/// `replica doctor` where users can't mount: without the FUSE device or fusermount3, or with others in their place.
@Suite struct DoctorDeviceTests {
    @Test func theFixCreatesTheDevice() async throws {
        try await Trial.runDoctor(
            withUser: true,
            #"""
            export XDG_DATA_HOME=$HERE/none
            doctor() { replica doctor; }
            mkdir dev
            mount -t tmpfs -o mode=755,dev none dev
            for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
            ln -s /proc/self/fd dev/fd
            mount --rbind dev /dev

            finds 20 "error    device: /dev/fuse is missing, so nothing can be mounted" doctor
            equal "$(mend device)" "mknod -m 666 /dev/fuse c 10 229"
            follow device doctor
            rm /dev/fuse; echo text >/dev/fuse
            finds 20 "error    device: /dev/fuse is not the FUSE device" doctor
            follow device doctor
            chmod 600 /dev/fuse
            finds 20 "error    device: /dev/fuse can't be opened by this user" as_user "$BIN/replica" doctor
            equal "$(mend device)" "sudo chmod 666 /dev/fuse"
            follow device as_user "$BIN/replica" doctor

            # The device of a kernel that has no FUSE, as mknod(1) makes it anywhere.
            without() {
                strace -f -qq -o trace -e trace=openat -e inject=openat:error=ENODEV -P /dev/fuse "$BIN/replica" doctor
            }
            finds 20 "error    device: /dev/fuse can't be opened: No such device" without
            equal "$(mend device)" "modprobe fuse"
            rm /dev/fuse
            grep -v fuse /proc/filesystems >filesystems
            mount --bind filesystems /proc/filesystems
            finds 20 "error    device: /dev/fuse is missing, so nothing can be mounted" doctor
            equal "$(mend device)" "modprobe fuse"
            """#)
    }

    @Test func theFixRepairsFusermount() async throws {
        try await Trial.runDoctor(
            withUser: true,
            #"""
            export XDG_DATA_HOME=$HERE/none
            for_user() { as_user "$BIN/replica" doctor; }
            good_kernel
            cp /usr/bin/fusermount3 ground/fusermount3
            mount --bind ground/fusermount3 /usr/bin/fusermount3
            chown replicatest ground/fusermount3
            chmod 4755 ground/fusermount3
            finds 20 "error    fusermount: .*is not set-user-ID root; users can't mount" for_user
            follow fusermount for_user
            equal "$(stat -c '%a %u' /usr/bin/fusermount3)" "4755 0"
            mount -o remount,bind,nosuid /usr/bin/fusermount3
            finds 20 "error    fusermount: .*mounted nosuid" for_user
            follow fusermount for_user
            umount /usr/bin/fusermount3
            # Everything but that.
            mkdir ground/upper ground/work
            mount -t overlay -o "lowerdir=/usr/bin,upperdir=$HERE/ground/upper,workdir=$HERE/ground/work" none /usr/bin
            rm /usr/bin/fusermount3
            finds 20 "error    fusermount: /usr/bin/fusermount3 is missing; users can't mount" for_user
            equal "$(mend fusermount)" "sudo apt-get install --reinstall fuse3"
            finds - "fine     fusermount: root mounts without fusermount3" replica doctor
            """#)
    }

    @Test func theFixRepairsFuseConf() async throws {
        try await Trial.runDoctor(
            withUser: true,
            #"""
            export XDG_DATA_HOME=$HERE/none
            for_user() { as_user "$BIN/replica" doctor; }
            good_kernel
            over "mount_max = 0" /etc/fuse.conf
            finds 20 "error    fuseConf: [0-9]+ FUSE filesystems are mounted, and mount_max allows 0" for_user
            follow fuseConf for_user
            over "d $MNT replica user,allow_other 0 0" /etc/fstab
            finds 20 "error    fuseConf: fstab has allow_other for $MNT" for_user
            follow fuseConf for_user
            has /etc/fuse.conf user_allow_other
            """#)
    }
}
