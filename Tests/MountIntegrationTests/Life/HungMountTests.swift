import Testing

/// `replica doctor` beside a mount whose server answers statfs(2), and nothing that is asked of its files.
@Suite struct HungMountTests {
    private static let server = #"""
        import ctypes, os, signal, struct, sys
        libc = ctypes.CDLL(None, use_errno=True)
        device = os.open("/dev/fuse", os.O_RDWR)
        data = f"fd={device},rootmode=40000,user_id={sys.argv[2]},group_id=0,allow_other".encode()
        assert libc.mount(b"x", sys.argv[1].encode(), b"fuse.replica", 0, data) == 0, ctypes.get_errno()
        # What waits for it then fails, and the test too.
        signal.alarm(600)
        attributes = struct.pack("=QIIQQQQQQIIIIIIIIII", 0, 0, 0, 1, 4096, 8, 0, 0, 0, 0, 0, 0, 0o40777, 2, 0, 0, 0, 4096, 0)
        answers = {
            26: struct.pack("=IIIIHHIIHHI", 7, 31, 4096, 0, 1, 1, 4096, 1, 1, 0, 0) + bytes(28),  # INIT
            3: attributes,  # GETATTR
            17: struct.pack("=QQQQQIIII", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0) + bytes(24),  # STATFS
        }
        while True:
            request = os.read(device, 1 << 16)
            opcode, number = struct.unpack_from("=IQ", request, 4)
            if opcode in (2, 36) or opcode in (22, 34): continue  # FORGET and INTERRUPT; GETXATTR and ACCESS, never answered
            body = answers.get(opcode)
            os.write(device, struct.pack("=IiQ", 16 + len(body or b""), 0 if body else -38, number) + (body or b""))
        """#

    @Test func aHungMountDoesNotBlockTheDoctor() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                "cat >server.py <<'END'\n\(Self.server)\nEND\n" + #"""
                    have_user
                    begin; settle; unmount_it
                    { declare -f; cat; } >script <<'END'
                    leave_others
                    awk '$3 == "fuse.replica" { print $2 }' /proc/self/mounts | while read -r place; do umount -l "$(printf '%b' "$place")"; done
                    mkdir hung
                    python=$(command -v /usr/bin/python3 || command -v python3)
                    "$python" server.py "$HERE/hung" "$(id -u replicatest)" &
                    server=$!
                    trap 'kill $server; umount -l hung' EXIT
                    eventually grep -q " $HERE/hung " /proc/self/mounts
                    stat -f hung >/dev/null
                    # doctor WORDS...: it ends before the server does.
                    doctor() { "$BIN/replica" doctor "$@" >said 2>&1 || true; kill -0 $server; }
                    # Nothing but statfs(2) is asked of another's mount. On a busy machine that may be answered late, too.
                    no_dead_mounts() { doctor && has said "mounts: there are no mounts of dead daemons"; }
                    eventually no_dead_mounts
                    jq --arg u "file://$HERE/hung" '.store = $u' "$STATE/domain.json" >edited
                    cat edited >"$STATE/domain.json"
                    doctor d
                    has said "error    d: store: $HERE/hung does not answer"
                    END
                    unshare -m --propagation private bash -c '
                        set -Eeuo pipefail; trap "echo failed at \$LINENO: \$BASH_COMMAND >&2" ERR; . "$HERE/script"'
                    """#)
        }
    }
}
