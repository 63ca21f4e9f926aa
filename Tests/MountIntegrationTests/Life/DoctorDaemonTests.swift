import Testing

/// `replica doctor` with daemons that hang, have other users, or are at their limits, and with mounts that nobody serves.
@Suite struct DoctorDaemonTests {
    /// Each thread stands still, as in a debugger: the process is not stopped by a signal.
    private static let holder = #"""
        import ctypes, os, signal, sys
        libc = ctypes.CDLL(None, use_errno=True)
        ATTACH = 16
        held = set()
        while True:
            new = {int(thread) for thread in os.listdir(f"/proc/{sys.argv[1]}/task")} - held
            if not new: break
            for thread in new:
                assert libc.ptrace(ATTACH, thread, None, None) == 0, ctypes.get_errno()
                os.waitpid(thread, 0x40000000)  # __WALL
            held |= new
        print("ready", flush=True)
        signal.alarm(600)
        # A thread whose end is not waited for keeps the process.
        while held: held.discard(os.waitpid(-1, 0x40000000)[0])
        """#

    @Test func theFixReplacesAHungDaemon() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                "cat >holder.py <<'END'\n\(Self.holder)\nEND\n" + doctorWords + #"""
                    privately <<'END'
                    only_ours
                    begin; settle
                    pid=$(daemon)
                    python=$(command -v /usr/bin/python3 || command -v python3)
                    "$python" holder.py "$pid" >held & holder=$!
                    trap 'kill $holder 2>/dev/null || true' EXIT
                    eventually has held ready
                    finds 20 "error    d: daemon: its daemon \(process $pid\) does not answer" doctor_d
                    equal "$(mend daemon)" "kill -9 $pid && replica mount d $MNT"
                    follow daemon doctor_d
                    mended mount doctor_d
                    ls "$MNT" >/dev/null
                    END
                    """#)
        }
    }

    /// Not even the process is known then.
    @Test func aDaemonThatAcceptsNoConnectionIsFound() async throws {
        try await Trial.runDoctor(
            #"""
            begin; settle
            pid=$(daemon)
            kill -STOP "$pid"
            trap 'kill -CONT "$pid"' EXIT
            python=$(command -v /usr/bin/python3 || command -v python3)
            "$python" -c '
            import signal, socket, sys
            held = []
            try:
                while True:
                    held.append(socket.socket(socket.AF_UNIX))
                    held[-1].setblocking(False)
                    held[-1].connect(sys.argv[1])
            except BlockingIOError: print("full", flush=True)
            signal.alarm(600); signal.pause()' "$STATE/control.sock" >queue & queue=$!
            eventually has queue full
            finds 20 "error    d: daemon: .*does not answer" doctor_d
            no_mend daemon
            kill "$queue"; kill -CONT "$pid"
            eventually mended daemon doctor_d
            """#)
    }

    @Test func aDaemonOfAnotherUserIsFound() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                doctorWords + #"""
                    have_user
                    chown -R replicatest "$HERE"
                    privately <<'END'
                    only_ours
                    as_user "$BIN/replica" import d "$SRC" --store "file://$STORE" >/dev/null
                    for_user() { as_user "$BIN/replica" doctor d; }
                    mended daemon for_user
                    chown root "$STATE/control.sock"
                    finds 20 "error    d: daemon: the daemon of $STATE belongs to another user" for_user
                    chown replicatest "$STATE/control.sock"
                    mended daemon for_user
                    end_daemon

                    # What listens there is no daemon.
                    python=$(command -v /usr/bin/python3 || command -v python3)
                    rm -f "$STATE/control.sock"
                    "$python" -c '
                    import signal, socket, sys
                    end = socket.socket(socket.AF_UNIX)
                    end.bind(sys.argv[1]); end.listen()
                    print("ready", flush=True)
                    signal.alarm(600)
                    held = []
                    while True:
                        held.append(end.accept()[0])
                        held[-1].recv(65536)
                        held[-1].sendall(b"nonsense\n")' "$STATE/control.sock" >listens & listener=$!
                    trap 'kill $listener' EXIT
                    eventually has listens ready
                    chown replicatest "$STATE/control.sock"
                    finds 20 "error    d: daemon: the daemon's answer is invalid" for_user
                    no_mend daemon
                    END
                    """#)
        }
    }

    @Test func theFixRaisesTheLimitOfADaemon() async throws {
        try await Trial.runDoctor(
            #"""
            begin; settle
            pid=$(daemon)
            used=$(ls "/proc/$pid/fd" | wc -l)
            prlimit --nofile=$((used + 1)): --pid "$pid"
            finds - "warning  d: descriptors: its daemon has [0-9]+ of $((used + 1)) files open" doctor_d
            eval "$(mend descriptors)"
            has "/proc/$pid/limits" "Max open files            $((4 * (used + 1)))"
            doctor_d >said || true
            lacks said "d: descriptors: "
            """#)
    }

    @Test func aMountInAnotherNamespaceIsFound() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                doctorWords + #"""
                    begin; settle
                    privately <<'END'
                    only_ours
                    mended mount doctor_d
                    mount -t tmpfs none "$MNT"
                    finds - "warning  d: mount: its mount on $MNT is covered by another one" doctor_d
                    equal "$(mend mount)" "umount $MNT"
                    follow mount doctor_d
                    umount -l "$MNT"
                    finds - "warning  d: mount: its mount on $MNT can't be seen from here: detached, or elsewhere" doctor_d
                    equal "$(mend mount)" "replica unmount d && replica mount d $MNT"
                    follow mount doctor_d
                    umount "$MNT"; no_daemon
                    # Under a mount on a folder above.
                    mkdir -p above/place
                    replica mount d above/place >/dev/null
                    mount -t tmpfs none above
                    finds - "warning  d: mount: its mount on $HERE/above/place is covered by another one on $HERE/above" doctor_d
                    equal "$(mend mount)" "umount $HERE/above"
                    follow mount doctor_d
                    replica unmount d >/dev/null
                    END
                    """#)
        }
    }

    /// Mounts of domains that the doctor does not know of.
    @Test func theFixRemovesDeadMounts() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                doctorWords + #"""
                    as_replicatest <<'END'
                    elsewhere() { XDG_DATA_HOME=$HERE/none replica doctor; }
                    begin; settle
                    pid=$(daemon)
                    kill -STOP "$pid"
                    trap 'kill -CONT "$pid"' EXIT
                    finds 20 "error    mounts: the mount on $MNT does not answer" elsewhere
                    no_mend mounts
                    kill -CONT "$pid"
                    trap - EXIT
                    eventually mended mounts elsewhere
                    kill_daemon
                    finds 20 "error    mounts: the daemon of the mount on $MNT is gone" elsewhere
                    equal "$(mend mounts)" "fusermount3 -uz $MNT"
                    follow mounts elsewhere
                    not is_mounted
                    END
                    """#)
        }
    }
}
