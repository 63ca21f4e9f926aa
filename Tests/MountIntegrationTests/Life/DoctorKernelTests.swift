import Testing

/// `replica doctor` where the kernel's settings and limits make mounts slow, and the settings that it names.
@Suite struct DoctorKernelTests {
    @Test func theFixesChangeTheSettings() async throws {
        try await Trial.runDoctor(
            withUser: true,
            #"""
            export XDG_DATA_HOME=$HERE/none
            doctor() { replica doctor; }
            for_user() { as_user "$BIN/replica" doctor; }
            good_kernel
            rings=/proc/sys/kernel/io_uring
            if [ -e ${rings}_disabled ]; then
                over 2 ${rings}_disabled
                finds 8 "warning  ioUring: .*kernel.io_uring_disabled forbids its use" doctor
                follow ioUring doctor
                over 1 ${rings}_disabled
                finds 0 "fine     ioUring" doctor
                finds 8 "warning  ioUring: .*kernel.io_uring_disabled forbids its use" for_user
                # But for those who are in a group.
                over "$(id -g replicatest)" ${rings}_group
                mended ioUring for_user
                umount ${rings}_group
                finds 8 "warning  ioUring: .*forbids its use" for_user
                follow ioUring for_user
            fi
            echo N >$fuse
            finds 8 "warning  ioUring: FUSE over io_uring is off" doctor
            echo 0 >$halt
            finds 8 "warning  haltPolling: virtual processors halt immediately, so work on many small files" doctor
            follow haltPolling doctor
            finds 8 "warning  ioUring: FUSE over io_uring is off" doctor
            follow ioUring doctor
            # With it, processors may halt.
            echo 0 >$halt
            mended haltPolling doctor
            rm $fuse $halt
            mended ioUring doctor
            """#)
    }

    @Test func theFixesRaiseTheLimits() async throws {
        try await Trial.runDoctor(
            withUser: true,
            #"""
            export XDG_DATA_HOME=$HERE/none
            doctor() { replica doctor; }
            for_user() { as_user "$BIN/replica" doctor; }
            good_kernel
            over 0 /proc/sys/fs/inotify/max_user_watches
            finds 8 "warning  inotify: [0-9]+ of 0 inotify watches are used: changes in stores may be found late" doctor
            equal "$(mend inotify)" "sysctl fs.inotify.max_user_watches=4"
            umount /proc/sys/fs/inotify/max_user_watches

            python=$(command -v /usr/bin/python3 || command -v python3)
            setpriv --reuid=replicatest --regid="$(id -g replicatest)" --clear-groups "$python" -c '
            import ctypes, signal
            libc = ctypes.CDLL(None)
            # A watch each, of a folder that nobody changes.
            for n in range(45): libc.inotify_add_watch(libc.inotify_init(), b"/proc/self", 2)
            signal.alarm(600)
            print("ready", flush=True)
            signal.pause()' >holds & holder=$!
            trap 'kill $holder' EXIT
            eventually has holds ready
            over 50 /proc/sys/fs/inotify/max_user_instances
            finds 8 "warning  inotify: [0-9]+ of 50 inotify instances are used" for_user
            follow inotify for_user
            equal "$(cat /proc/sys/fs/inotify/max_user_instances)" 200
            over 50 /proc/sys/fs/inotify/max_user_watches
            finds 8 "warning  inotify: [0-9]+ of 50 inotify watches are used: changes in stores may be found late" for_user
            follow inotify for_user

            ulimit -n 1000
            finds 8 "warning  descriptors: a daemon may have only 1000 files open" doctor
            equal "$(mend descriptors)" 'prlimit --nofile=1048576:1048576 --pid $$'
            # Root may raise it, but not in every container.
            if (ulimit -n 999; ulimit -n 1000) 2>/dev/null; then follow descriptors doctor; fi
            """#)
    }
}
