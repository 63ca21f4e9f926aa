/// How long a script waits for anything, in seconds. It is part of the functions' text: other shells get only those.
private let eventSeconds = 300

/// The beginning of every test's script.
let shellWords = #"""
    set -Eeuo pipefail
    umask 022
    cd "$HERE"
    trap 'echo "failed at line $LINENO: $BASH_COMMAND" >&2; tail -n 20 "$STATE/daemon.log" 2>/dev/null >&2' ERR
    fail() { echo "FAILED: $*" >&2; return 1; }
    replica() { timeout \#(eventSeconds) "$BIN/replica" "$@"; }
    mount_replica() { timeout \#(eventSeconds) "$BIN/mount.replica" "$@"; }
    # within SECONDS COMMAND...: repeats a command until it succeeds.
    within() {
        local end=$((SECONDS + $1))
        shift
        until "$@"; do
            [ $SECONDS -lt $end ] || fail "never came true: $*" || return 1
            sleep 0.05
        done
    }
    eventually() { within \#(eventSeconds) "$@"; }
    # For what only the store's own polling brings.
    in_time() { within \#(eventSeconds) "$@"; }
    not() { if "$@"; then return 1; fi; }
    equal() { [ "$1" = "$2" ] || fail "'$1' is not '$2'"; }
    # prints TEXT COMMAND...: says just that on standard output, and succeeds. Of a function every command must, but for
    # where `eventually` or a condition asks: bash sees only the last one's failure there.
    prints() {
        local text=$1 said got
        shift
        said=$(set -e; "$@"); got=$?
        [ "$got" -eq 0 ] || fail "ended with $got: $*" || return 1
        [ "$said" = "$text" ] || fail "'$said' is not '$text': $*"
    }
    # refused CODE TEXT COMMAND...: ends with this exit code and one line that contains the text.
    refused() {
        local code=$1 text=$2 said got=0
        shift 2
        said=$("$@" 2>&1) || got=$?
        equal "$got" "$code" || fail "$*: $said" || return 1
        equal "$(printf '%s\n' "$said" | wc -l)" 1 || fail "not one line: $said" || return 1
        case $said in *"$text"*) ;; *) fail "no '$text' in: $said" ;; esac
    }
    import_it() { replica import d "$SRC" --store "file://$STORE" >/dev/null; }
    mount_it() { replica mount d "$MNT" "$@" >/dev/null; }
    # `replica doctor` of another test may be looking at it.
    unmount_it() { eventually umount "$MNT"; end_daemon; }
    begin() { import_it; mount_it; }
    settle() { timeout \#(eventSeconds + 10) "$BIN/replica" wait d --timeout \#(eventSeconds) >/dev/null; }
    same() { diff -r --no-dereference --exclude=".replica-tmp-*" "$MNT" "$STORE"; }
    is_mounted() { awk -v at="$MNT" '$2 == at { found = 1 } END { exit !found }' /proc/self/mounts; }
    # Who holds the lock.
    daemon() {
        # Disks that are made in the same way have files of the same numbers.
        local at; at=$(printf '%02x:%02x:%s' $(stat -c '%Hd %Ld %i' "$STATE/lock"))
        awk -v at="$at" '$2 == "FLOCK" && $6 == at { print $5; exit }' /proc/locks
    }
    # Who runs mount.replica with this text in the command line. Of others only the name is asked for: a process that is
    # just being started from a dead mount tells no more.
    replicas_with() {
        local process
        for process in /proc/[0-9]*; do
            [ "$(cat "$process/comm" 2>/dev/null)" = mount.replica ] || continue
            ! tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -qF -- "$1" || echo "${process#/proc/}"
        done
    }
    # Its last thread is gone, or nothing but a zombie that nobody has waited for.
    gone() {
        local end=$((SECONDS + \#(eventSeconds))) state
        while [ $SECONDS -lt $end ]; do
            state=$(awk '/^State/ { print $2 }' "/proc/$1/status" 2>/dev/null) || state=
            case $state in
                "") return 0 ;;
                Z) [ "$(ls "/proc/$1/task" 2>/dev/null | wc -l)" -gt 1 ] || return 0 ;;
            esac
            sleep 0.02
        done
        # A thread that waits for the mount ends with the connection.
        threads_of "$1" >&2
        umount -f "$MNT" 2>/dev/null || true
        fail "process $1 does not end"
    }
    # What each thread of a process waits for.
    threads_of() {
        local thread
        for thread in "/proc/$1/task"/*; do
            echo "$(cat "$thread/comm"): $(awk '/^State/ { print $2, $3 }' "$thread/status") in $(cat "$thread/wchan")," \
                "call $(cat "$thread/syscall"), $(tr '\n' ' ' <"$thread/stack")"
        done 2>/dev/null
    }
    kill_daemon() { local pid; pid=$(daemon); kill -9 "$pid"; gone "$pid"; }
    # In good order; it may be ending already.
    end_daemon() { local pid; pid=$(daemon); [ -z "$pid" ] || { kill "$pid" || true; gone "$pid"; }; }
    free_lock() { flock -n "$STATE/lock" true; }
    # It ends soon, but where others write much its last writes to the disk take long.
    no_daemon() {
        in_time free_lock && return
        threads_of "$(daemon)" >&2
        return 1
    }
    has() { grep -qF -- "$2" "$1"; }
    # finds_no ARGUMENTS-OF-GREP...: it looked, and found nothing. `not grep` holds where there is no such file, too.
    finds_no() {
        local got=0
        grep "$@" || got=$?
        [ "$got" -eq 1 ] || fail "grep ends with $got: $*"
    }
    lacks() { finds_no -qF -- "$2" "$1"; }
    content_is() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }
    # Gives a folder of the trial a disk of its own, of which `cut_power` can take away what is only in memory.
    disk_at() {
        truncate -s "${2:-32M}" "$1.image"
        mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$1.image"
        mount -o loop "$1.image" "$HERE/$1"
    }
    # Puts away what a disk has, but for what the kernel still keeps in memory. Two copies that are the same are of one moment.
    take_disk() {
        until cp --sparse=always "$1.image" "$1.taken" && cmp -s "$1.image" "$1.taken"; do :; done
    }
    # The power of these disks is cut: the daemon is gone, and a disk has what was on it.
    cut_power() {
        local pid disk
        pid=$(daemon)
        [ -z "$pid" ] || { kill -9 "$pid"; gone "$pid"; }
        for disk in "$@"; do take_disk "$disk"; done
        if is_mounted; then umount -l "$MNT"; fi
        for disk in "$@"; do
            umount -l "$HERE/$disk"
            mv "$disk.taken" "$disk.image"
            mount -o loop "$disk.image" "$HERE/$disk"
        done
    }
    # Has a disk's journal written, and no file's bytes but those of a file of its own.
    force_journal() { echo x >"$HERE/$1/forced"; sync "$HERE/$1/forced"; rm "$HERE/$1/forced"; sync "$HERE/$1"; }
    # The machine's mount namespace.
    MACHINE_MOUNTS=$(readlink /proc/self/ns/mnt)
    # Comes first in every mount namespace that a test makes. It begins with copies of the mounts of all tests that run just
    # then: while it has them, their filesystems stay in use, and so do their daemons and disks.
    leave_others() {
        local place
        if [ "$(readlink /proc/self/ns/mnt)" = "$MACHINE_MOUNTS" ]; then echo "not in a namespace of its own" >&2; return 1; fi
        of_others() {
            awk -v own="$HERE/" 'index($2, "/var/tmp/replica-test-") == 1 && index($2, own) != 1 { print $2 }' /proc/self/mounts
        }
        # What lies below one goes with it. A test may exchange folders above one, as fast as it can, while it is read where it is.
        local end=$((SECONDS + \#(eventSeconds)))
        while place=$(of_others); [ -n "$place" ]; do
            if [ $SECONDS -ge $end ]; then echo "a copy is left of $place" >&2; return 1; fi
            tac <<<"$place" | while read -r place; do umount -l "$(printf '%b' "$place")" 2>/dev/null || true; done
        done
    }
    export MACHINE_MOUNTS
    export -f leave_others
    # The user of what is tried without root's rights. Two that are added at once would fail.
    have_user() {
        flock /etc sh -c 'id replicatest >/dev/null 2>&1 || useradd --system --no-create-home --shell /bin/sh replicatest'
    }
    # What root does first for `as_replicatest`, in the namespaces of its own.
    before_user() { :; }
    # Runs a script, from standard input, as a user who is not root, with all these words. Its processes end with it.
    as_replicatest() {
        have_user
        { declare -f; cat; } >script
        chown -R replicatest "$HERE"
        export -f before_user
        # /dev may have the device for root only.
        unshare --mount --pid --fork --kill-child --mount-proc bash -c '
            set -e
            leave_others
            mount -t tmpfs -o mode=755,dev none "$HERE/mnt"
            mknod -m 666 "$HERE/mnt/fuse" c 10 229
            mount --bind "$HERE/mnt/fuse" /dev/fuse
            umount -l "$HERE/mnt"
            before_user
            exec setpriv --reuid=replicatest --regid="$(id -g replicatest)" --clear-groups bash -c "
                set -Eeuo pipefail; trap \"echo failed at \\\$LINENO: \\\$BASH_COMMAND >&2\" ERR
                . \"\$HERE/script\""'
    }

    """#
