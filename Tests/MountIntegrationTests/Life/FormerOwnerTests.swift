import Glibc
import Testing

/// A user who owned a folder before root imported it, and still has it open, can rename in the backing tree. Through
/// the mount the user only reaches their own files.
@Suite struct FormerOwnerTests {
    /// For how many seconds names are exchanged as fast as possible.
    private static let duration = 4

    @Test(.enabled(if: geteuid() == 0)) func aFormerOwnerReachesNoFileOfRoot() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                cat >attack.py <<'END'
                \(Self.attack)
                END
                mkdir "$SRC/u"; cd "$SRC/u"; echo mine >mine; echo secret >secret; mkdir sub
                chmod 600 secret; exec 8<secret; chown 65534:65534 . mine sub
                cd "$HERE"; chmod 755 "$HERE"
                mkfifo go
                (exec setpriv --reuid=65534 --regid=65534 --clear-groups \\
                    /usr/bin/python3 attack.py "$SRC/u" "$MNT/u" \(Self.duration) <go >attacked 2>&1) & attacker=$!
                exec 7>go
                opened() { has attacked opened; }
                eventually opened || { cat attacked >&2; fail "the attacker does not start"; }
                import_it; mount_it -o allow_other
                exec 7>&-
                wait $attacker || { cat attacked >&2; fail "the attacker failed"; }
                cat attacked
                has attacked done
                lacks attacked READ
                equal "$(stat -L -c '%u %a %h' /proc/self/fd/8) $(cat <&8)" "0 600 1 secret"
                """)
        }
    }

    /// As the former owner: exchanges names in the backing folder, and uses their own file through the mount.
    private static let attack = #"""
        import ctypes, os, sys, threading, time
        below = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
        print("opened", flush=True)
        sys.stdin.read()
        at, end = sys.argv[2], time.monotonic() + float(sys.argv[3])
        libc = ctypes.CDLL(None, use_errno=True)
        def exchange(a, b): libc.renameat2(below, a, below, b, 2)
        def read():
            with open(at + "/mine") as file:
                if "secret" in file.read(): print("READ", flush=True)
        def cut():
            os.close(os.open(at + "/mine", os.O_WRONLY | os.O_TRUNC))
        def held():
            file = os.open(at + "/mine", os.O_PATH)
            try: os.chmod("/proc/self/fd/%d" % file, 0o644)
            finally: os.close(file)
        made = {"folder": 0, "link": 0, "fifo": 0}
        def make(kind, call):
            if made[kind] < 500:
                made[kind] += 1
                call("%s/%s%d" % (at, kind, made[kind]))
        calls = [read, cut, held, lambda: make("folder", os.mkdir), lambda: make("fifo", os.mkfifo),
            lambda: make("link", lambda path: os.symlink("x", path)),
            lambda: os.chmod(at + "/mine", 0o666), lambda: os.truncate(at + "/mine", 1),
            lambda: os.setxattr(at + "/mine", "user.x", b"x"), lambda: os.utime(at + "/mine", (1, 1)),
            lambda: os.chown(at + "/mine", 65534, 65534), lambda: os.stat(at + "/mine")]
        def repeat(call):
            while time.monotonic() < end:
                try: call()
                except OSError: pass
        def swap():
            while time.monotonic() < end:
                exchange(b"mine", b"secret")
                for kind, count in made.items():
                    name = b"%s%d" % (kind.encode(), count)
                    exchange(name, b"secret"); exchange(name, b"secret")
        first = [read, calls[6], calls[7]]
        # Once without a race: what the kernel knows is of the file that was there.
        os.stat(at + "/mine"); exchange(b"mine", b"secret")
        for call in first:
            try: call()
            except OSError: pass
        exchange(b"mine", b"secret")
        threads = [threading.Thread(target=repeat, args=[call]) for call in calls] + [threading.Thread(target=swap)]
        if os.fork() == 0:
            swap(); os._exit(0)
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        os.wait()
        print("done", flush=True)
        """#
}
