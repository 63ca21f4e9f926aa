import Foundation
import Testing

/// `replica-passthrough`, which lets the kernel read and write the files of an ordinary user's mount directly.
@Suite struct PassthroughProgramTests {
    /// How the program gets its capability.
    enum Grant: String, CaseIterable, Sendable {
        case capability = "setcap cap_sys_admin+ep"
        case setUserID = "chmod u+s"
    }

    /// Built and installed like by `scripts/install`, below a prefix owned by root.
    static func words(_ grant: Grant) -> String {
        """
        before_user() {
            mkdir -p "$HERE/prefix/sbin" "$HERE/prefix/libexec"
            chown -R root "$HERE/prefix"
            cp "$BIN/mount.replica" "$BIN/replica" "$HERE/prefix/sbin"
            (. "\(scripts)/common.sh"; build_passthrough "$HERE/prefix/libexec/replica-passthrough")
            chmod 755 "$HERE/prefix/libexec/replica-passthrough"
            \(grant.rawValue) "$HERE/prefix/libexec/replica-passthrough"
        }
        helpers() { pgrep -x replica-passthr || [ $? -eq 1 ]; }
        no_helpers() { prints "" helpers 2>/dev/null; }

        """
    }

    /// A daemon that is stopped serves nothing.
    @Test(arguments: Grant.allCases) func theKernelReadsAndWritesAUsersFiles(_ grant: Grant) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words(grant) + #"""
                    as_replicatest <<'END'
                    BIN=$HERE/prefix/sbin
                    begin
                    exec 5<>"$MNT/file"
                    echo first >&5
                    equal "$(helpers | wc -l)" 1
                    # Nothing is left of root's but what the ioctl wants.
                    equal "$(awk '/^(CapPrm|CapEff)/ { print $2 }' /proc/$(helpers)/status | sort -u)" 0000000000200000
                    equal "$(awk '/^(CapInh|CapAmb)/ { print $2 }' /proc/$(helpers)/status | sort -u)" 0000000000000000
                    # It hears every signal.
                    prints 0000000000000000 awk '/^SigBlk/ { print $2 }' /proc/$(helpers)/status
                    me=$(id -u); prints "$me$me$me$me" awk '/^Uid/ { print $2 $3 $4 $5 }' /proc/$(helpers)/status
                    kill -STOP "$(daemon)"
                    # A shell would ask for the file's attributes.
                    python=$(command -v /usr/bin/python3 || command -v python3)
                    equal "$(timeout -s KILL 120 "$python" -c 'import os
                    os.write(5, b"second\n")
                    print(os.pread(5, 5, 0).decode())')" first
                    kill -CONT "$(daemon)"
                    content_is "$MNT/file" "$(printf 'first\nsecond')"
                    exec 5>&-
                    head -c 3000000 /dev/urandom >big; cp big "$MNT/big"; cmp big "$MNT/big"
                    for n in $(seq 300); do echo $n >"$MNT/f$n"; done
                    settle; same
                    replica unmount d; no_daemon
                    eventually no_helpers
                    END
                    """#)
        }
    }

    /// It is the user's own process: killing it only costs speed.
    @Test func filesAreServedAfterTheProgramIsKilled() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words(.capability) + #"""
                    as_replicatest <<'END'
                    BIN=$HERE/prefix/sbin
                    begin
                    exec 5<>"$MNT/open"; echo one >&5
                    kill -KILL "$(helpers)"
                    echo two >&5; echo new >"$MNT/new"; content_is "$MNT/new" new
                    exec 5>&-
                    content_is "$MNT/open" "$(printf 'one\ntwo')"
                    settle; same; unmount_it; mount_it
                    echo again >"$MNT/again"; kill -STOP "$(helpers)"
                    echo last >"$MNT/last"; content_is "$MNT/last" last
                    settle; same; unmount_it; mount_it
                    # More files are closed than the socket takes messages: each of them would wait for seconds.
                    python=$(command -v /usr/bin/python3 || command -v python3)
                    "$python" - "$MNT" <<'PYTHON'
                    import os, signal, subprocess, sys
                    files = [os.open(f"{sys.argv[1]}/many{n}", os.O_RDWR | os.O_CREAT) for n in range(600)]
                    os.kill(int(subprocess.check_output(["pgrep", "-x", "replica-passthr"])), signal.SIGSTOP)
                    for file in files: os.close(file)
                    PYTHON
                    timeout 120 bash -c 'echo after >"$MNT/after"'; content_is "$MNT/after" after
                    settle; same
                    replica unmount d; no_daemon
                    END
                    """#)
        }
    }

    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "scripts").path

    /// A user who can replace the file could give the capability to their own program.
    @Test func theProgramIsInstalledOnlyInTrustedFolders() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                { declare -f; cat; } >script <<'END'
                # The machine's own folders stay as they are.
                mkdir over; mount -t tmpfs -o mode=755 none over; mkdir over/upper over/work
                sbin=$(readlink -f /sbin)
                layers=lowerdir=$sbin,upperdir=over/upper,workdir=over/work
                mount -t overlay -o "$layers" none "$sbin"
                mount -t tmpfs -o mode=755 none /srv
                program=libexec/replica-passthrough
                install() { "\#(Self.scripts)/install" --from "$BIN" --prefix "$1" "${@:2}" >said; }
                install /srv/mine
                equal "$(getcap /srv/mine/$program)" "/srv/mine/$program cap_sys_admin=ep"
                equal "$(stat -c '%U %a' /srv/mine/$program)" 'root 755'
                # Of C alone: nothing of the Swift runtime runs with its rights, and no folder is searched for libraries.
                finds_no -qi swift /srv/mine/$program
                readelf -dW /srv/mine/$program >dynamic
                equal "$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' dynamic)" libc.so.6
                finds_no -qE 'RUNPATH|RPATH|TEXTREL' dynamic
                has dynamic BIND_NOW
                readelf -lW /srv/mine/$program >segments
                has segments GNU_RELRO
                install /srv/mine --uninstall
                not test -e /srv/mine
                mkdir -m 1777 /srv/theirs
                not install /srv/theirs/mine 2>errors
                has errors '/srv/theirs (root, mode 1777) can be changed by others than root'
                not test -e /srv/theirs/mine
                END
                unshare -m --propagation private bash -c '
                    set -Eeuo pipefail; trap "echo failed at \$LINENO: \$BASH_COMMAND >&2" ERR; leave_others; . "$HERE/script"'
                """#)
        }
    }

    /// What it knows of a connection and its mount comes from procfs alone.
    @Test func aFakeProcIsNotTrusted() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words(.capability) + #"""
                    cat >ask.py <<'END'
                    import array, ctypes, errno, os, socket, struct, subprocess, sys
                    libc = ctypes.CDLL(None, use_errno=True)
                    helper, user = sys.argv[1], int(sys.argv[2])
                    os.mkdir("foreign")
                    device = os.open("/dev/fuse", os.O_RDWR)
                    data = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
                    assert libc.mount(b"x", b"foreign", b"fuse", 0, data) == 0
                    minor = [line.split()[2] for line in open("/proc/self/mountinfo") if "/foreign " in line][0].split(":")[1]
                    assert libc.mount(b"none", b"/proc", b"tmpfs", 0, b"mode=755") == 0
                    os.makedirs("/proc/self/fdinfo")
                    for number in range(10):
                        with open(f"/proc/self/fdinfo/{number}", "w") as file: file.write(f"fuse_connection:\t{minor}\n")
                    with open("/proc/self/mountinfo", "w") as file:
                        file.write(f"1 1 0:{minor} / /m rw - fuse x rw,user_id={user},group_id=0\n")
                    os.setgroups([]); os.setresgid(user, user, user); os.setresuid(user, user, user)
                    channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    child = subprocess.Popen([helper], stdin=other)
                    other.close()
                    channel.settimeout(120)
                    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [device]))]
                    channel.sendmsg([struct.pack("Ii", 1, 0)], rights)
                    answer = struct.unpack("i", channel.recv(64))[0]
                    print(errno.errorcode[-answer] if answer else "accepted")
                    END
                    have_user
                    export -f before_user
                    answer=$(unshare --mount bash -ec '
                        leave_others; before_user; chmod 755 "$HERE"
                        user=$(id -u replicatest) python=$(command -v /usr/bin/python3 || command -v python3)
                        "$python" ask.py "$HERE/prefix/libexec/replica-passthrough" "$user"')
                    equal "$answer" ENOTSUP
                    """#)
        }
    }

    /// Requests that a user makes by hand. Each filesystem here is mounted with an unserved descriptor, so that the
    /// kernel refuses an accepted file (EPERM).
    @Test func onlyFilesThatTheUserMayAccessAreRegistered() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words(.capability) + #"""
                    cat >ask.py <<'END'
                    import array, ctypes, errno, os, random, socket, struct, subprocess, sys
                    HELPER, HERE = sys.argv[1], sys.argv[2]
                    SESSION, OPEN, CLOSE = 1, 2, 3
                    libc = ctypes.CDLL(None, use_errno=True)

                    def mounted(name, user):
                        os.mkdir(name)
                        device = os.open("/dev/fuse", os.O_RDWR)
                        data = f"fd={device},rootmode=40000,user_id={user},group_id=0".encode()
                        assert libc.mount(b"x", name.encode(), b"fuse", 6, data) == 0, ctypes.get_errno()
                        return device

                    class Helper:
                        def __init__(self):
                            self.channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                            self.child = subprocess.Popen([HELPER], stdin=other)
                            other.close()
                            self.channel.settimeout(120)

                        def raw(self, data, files=()):
                            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
                            self.channel.sendmsg([data], rights)

                        def ask(self, call, *files):
                            self.raw(struct.pack("Ii", call, 0), files)
                            answer = self.channel.recv(64)
                            return errno.errorcode[-struct.unpack("i", answer)[0]] if struct.unpack("i", answer)[0] else "0"

                        def end(self):
                            self.channel.close()
                            return self.child.wait(120)

                    failures = []
                    def expect(what, found, wanted):
                        if found != wanted: failures.append(f"{what}: {found}, not {wanted}")

                    user = int(sys.argv[3])
                    own, foreign, similar = mounted("own", user), mounted("foreign", 0), mounted("similar", int(f"{user}0"))
                    unused = os.open("/dev/fuse", os.O_RDWR)
                    os.setgroups([]); os.setresgid(user, user, user); os.setresuid(user, user, user)
                    libc.prctl(4, 1)  # PR_SET_DUMPABLE: else /proc/self is root's

                    def session(device):
                        helper = Helper()
                        answer = helper.ask(SESSION, device)
                        helper.end()
                        return answer
                    expect("own mount", session(own), "0")
                    expect("another's mount", session(foreign), "EPERM")
                    expect("the mount of a similar number", session(similar), "EPERM")
                    expect("a device not mounted", session(unused), "ENOTSUP")
                    expect("another device", session(os.open("/dev/null", os.O_RDWR)), "ENOTTY")
                    expect("a file", session(os.open("ask.py", os.O_RDONLY)), "ENOTTY")

                    helper = Helper()
                    expect("a file before the session", helper.ask(OPEN, os.open("mine", os.O_RDWR)), "EINVAL")
                    expect("the session", helper.ask(SESSION, own), "0")
                    expect("a second session", helper.ask(SESSION, own), "EBUSY")
                    for what, path, flags, wanted in [
                        ("own file", "mine", os.O_RDWR, "EPERM"),
                        ("own file, opened for reading", "mine", os.O_RDONLY, "EPERM"),
                        ("another's file that may be read", "theirs", os.O_RDONLY, "EACCES"),
                        ("own file that may not be written", "frozen", os.O_RDONLY, "EACCES"),
                        ("a folder", ".", os.O_RDONLY, "ENOTSUP"),
                        ("a pipe", "pipe", os.O_RDWR | os.O_NONBLOCK, "ENOTSUP"),
                        ("a device", "/dev/null", os.O_RDWR, "ENOTSUP"),
                        ("a file of /proc", "/proc/self/comm", os.O_RDWR, "ENOTSUP"),
                        ("a file of /sys", "/sys/kernel/mm/transparent_hugepage/enabled", os.O_RDONLY, "ENOTSUP"),
                        ("a file on an overlay", "over/file", os.O_RDWR, "ENOTSUP"),
                        ("a file that may only be read there", "ro/mine", os.O_RDONLY, "EROFS"),
                    ]:
                        file = os.open(path, flags)
                        expect(what, helper.ask(OPEN, file), wanted)
                        os.close(file)
                    expect("the end", helper.end(), 0)

                    # Whatever breaks the protocol ends it, with what it holds.
                    mine = os.open("mine", os.O_RDWR)
                    for what, data, files in [
                        ("nothing with it", struct.pack("Ii", OPEN, 0), []), ("two files", struct.pack("Ii", OPEN, 0), [mine, mine]),
                        ("a file to close", struct.pack("Ii", CLOSE, 1), [mine]),
                        ("two files to close", struct.pack("Ii", CLOSE, 1), [mine, mine]), ("an unknown call", struct.pack("Ii", 9, 0), []),
                        ("a short one", b"\x02\0\0", [mine]), ("a long one", b"\x02" + b"\0" * 8, [mine]), ("empty", b"", []),
                    ]:
                        helper = Helper()
                        helper.ask(SESSION, own)
                        helper.raw(data, files)
                        try: code = helper.child.wait(120)
                        except subprocess.TimeoutExpired: code = "alive"
                        expect(what, code in (0, 1), True)
                        helper.channel.close()
                    # By a seed: nothing hangs it, nothing has it end by a signal.
                    numbers = random.Random(18)
                    for turn in range(150):
                        helper = Helper()
                        try:
                            for _ in range(numbers.randrange(12)):
                                data = struct.pack("Ii", numbers.choice([1, 2, 2, 3, 3, numbers.getrandbits(32)]), numbers.getrandbits(31))
                                if numbers.randrange(6) == 0: data = numbers.randbytes(numbers.randrange(40))
                                helper.raw(data, [numbers.choice([mine, own, unused, foreign])] * numbers.choice([0, 1, 1, 1, 2]))
                        except OSError: pass
                        code = helper.end()
                        expect(f"turn {turn}", code in (0, 1), True)

                    # Not by a socket that somebody else made, nor by anything but a socket.
                    theirs = socket.socket(fileno=int(sys.argv[4]))
                    expect("another's socket", subprocess.Popen([HELPER], stdin=theirs).wait(120), 1)
                    expect("no socket", subprocess.Popen([HELPER], stdin=subprocess.DEVNULL).wait(120), 1)
                    print("\n".join(failures))
                    END
                    cat >start.py <<'END'
                    import os, socket, sys
                    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    os.set_inheritable(there.fileno(), True)
                    os.execv(sys.executable, [sys.executable, "ask.py", *sys.argv[1:], str(there.fileno())])
                    END
                    have_user
                    export -f before_user
                    wrong=$(unshare --mount bash -ec '
                        leave_others; before_user; chmod 755 "$HERE"
                        echo x >mine; echo x >frozen; echo x >theirs; mkfifo pipe; chown replicatest mine frozen pipe; chmod 444 frozen
                        mkdir over ro; mount -t tmpfs none over; mkdir over/a over/b over/c over/m; echo x >over/a/file
                        chown replicatest over/a/file
                        mount -t overlay -o lowerdir=over/a,upperdir=over/b,workdir=over/c none over/m; mount --bind over/m over
                        mount --bind . ro; mount -o remount,bind,ro ro
                        python=$(command -v /usr/bin/python3 || command -v python3)
                        "$python" start.py "$HERE/prefix/libexec/replica-passthrough" "$HERE" "$(id -u replicatest)"
                        ')
                    equal "$wrong" ""
                    """#)
        }
    }
}
