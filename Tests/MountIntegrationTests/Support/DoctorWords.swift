import Testing

/// Shell functions for tests of `replica doctor` on machines and with domains that have problems. The machine is only changed in a
/// private mount namespace.
let doctorWords = #"""
    # finds CODE LINE COMMAND...: it ends with this exit code (- for any) and prints a line that starts so. Again, while a busy
    # machine keeps what it asks from answering soon enough.
    finds() {
        local code=$1 line=$2 got
        shift 2
        is_answered() {
            got=0
            "$@" >said 2>&1 || got=$?
            [ "$code" != - ] || code=$got
            ! grep -q "does not answer" said || { [ "$got" = "$code" ] && grep -qE "^$line" said; }
        }
        eventually is_answered "$@"
        grep -qE "^$line" said || fail "no '$line' in: $(cat said)" || return 1
        equal "$got" "$code" || fail "$(cat said)"
    }
    # Only this domain's mount is looked at: those of other tests come and go, and who looks at one keeps it in use.
    only_ours() {
        leave_others
        awk '$3 == "fuse.replica" { print $2 }' /proc/self/mounts | while read -r place; do
            place=$(printf '%b' "$place")
            [ "$place" = "$MNT" ] || umount -l "$place"
        done
    }
    # What the line that is not fine says to do about a check.
    mend() { sed -n "s/^\(error\|warning\) .*$1: .*; to fix it: //p" said; }
    # mended CHECK COMMAND...: it finds nothing wrong there.
    mended() {
        local check=$1
        shift
        "$@" >said 2>&1 || true
        grep -qE "^fine +([^ ]+: )?$check: " said && ! grep -qE "^(error|warning) +([^ ]+: )?$check: " said
    }
    # follow CHECK COMMAND...: whoever does as the line says is rid of it.
    follow() {
        local check=$1 command
        shift
        command=$(mend "$check")
        [ -n "$command" ] || fail "nothing is said to mend $check: $(cat said)" || return 1
        eval "${command#sudo }"
        eventually mended "$check" "$@" || fail "after $command: $(cat said)"
    }
    # Nothing is said to mend it, or nothing that a test may do.
    no_mend() { prints "" mend "$1"; }
    # Runs a script, from standard input, in a mount namespace of its own, with all these words.
    privately() {
        { declare -f; cat; } >script
        unshare -m --propagation private bash -c '
            set -Eeuo pipefail; trap "echo failed at \$LINENO: \$BASH_COMMAND >&2; cat said >&2" ERR
            . "$HERE/script"'
    }
    # over TEXT FILE: the file has this text.
    over() { local file; file=$(mktemp ground/XXXXXX); chmod 644 "$file"; echo "$1" >"$file"; mount --bind "$file" "$2"; }
    # The kernel's switches are fine, whatever the machine's are.
    good_kernel() {
        fuse=/sys/module/fuse/parameters/enable_uring halt=/sys/module/haltpoll/parameters/guest_halt_poll_ns
        mkdir -p ground
        mount -t tmpfs -o mode=755,dev,suid none ground
        mount -t tmpfs -o mode=755 none /sys/module
        mkdir -p /sys/module/fuse/parameters /sys/module/haltpoll/parameters
        echo Y >$fuse
        echo 200000 >$halt
        [ ! -e /proc/sys/kernel/io_uring_disabled ] || over 0 /proc/sys/kernel/io_uring_disabled
        over 100000 /proc/sys/fs/inotify/max_user_instances
        over 100000000 /proc/sys/fs/inotify/max_user_watches
        ulimit -n "$(ulimit -Hn)"
    }
    # A command as the user, in root's script.
    as_user() {
        timeout 60 setpriv --reuid=replicatest --regid="$(id -g replicatest)" --clear-groups env HOME="$HERE" "$@"
    }
    # Another store, of a domain that is not running.
    set_store() {
        jq --arg u "$1" '.store = $u' "$STATE/domain.json" >edited
        cat edited >"$STATE/domain.json"
    }
    doctor_d() { replica doctor d; }

    """#

extension Trial {
    /// Runs a script with ``doctorWords`` in a private mount namespace that has no mounts of other tests.
    /// - Parameter withUser: Whether it needs the user `replicatest`.
    static func runDoctor(
        withUser: Bool = false, _ script: String, location: SourceLocation = #_sourceLocation
    ) async throws {
        let user = withUser ? "have_user\n" : ""
        let privately = "\(user)privately <<'END'\nonly_ours\n\(script)\nEND\n"
        try await run { trial in try await trial.shell(doctorWords + privately, location: location) }
    }
}
