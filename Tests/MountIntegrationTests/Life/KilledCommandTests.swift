import Testing

/// A command that is killed at any of its system calls has done everything or nothing, or the same command completes
/// it.
@Suite struct KilledCommandTests {
    private let words = #"""
        # killed_at CALL N ARGUMENTS...: mount.replica does it, and is killed at the call of this number, or ends before.
        killed_at() {
            local call=$1 n=$2; shift 2
            strace -f -qq -o "$HERE/calls" -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
                "$BIN/mount.replica" "$@" >said 2>&1 || true
            rm -f "$HERE/calls"
        }
        lock_is_free() { not test -e "$STATE/lock" || free_lock; }

        """#

    @Test func aKilledRemovalIsContinued() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    fresh() {
                        mkdir -p "$SRC/s"; for n in 1 2 3; do echo "$n" >"$SRC/s/$n"; done; echo top >"$SRC/top"
                        begin; settle
                        replica disconnect d --reason test >/dev/null
                        echo unsent >"$MNT/s/2"; echo new >"$MNT/new"; chmod 555 "$MNT/s"
                        replica unmount d >/dev/null; eventually free_lock
                    }
                    # tried KEEP CALL N
                    tried() {
                        fresh
                        killed_at "$2" "$3" --remove d "$1"
                        eventually lock_is_free
                        if [ -e "$STATE/tree" ] && [ -e "$STATE/removal" ]; then
                            refused 32 "the removal of d is not finished: 'replica remove d' continues it" mount_replica d "$MNT"
                            broken_off=$((broken_off + 1))
                        elif [ -e "$STATE/tree" ]; then
                            mount_it; replica connect d >/dev/null; settle
                            replica disconnect d --reason test >/dev/null; replica unmount d >/dev/null; eventually free_lock
                        fi
                        # What was only moved aside was deleted by nobody.
                        equal "$(ls "$STORE" | tr '\n' ' ')$(ls "$STORE/s" | tr '\n' ' ')" "${new:-}s top 1 2 3 "
                        [ ! -e "$STATE/tree" ] || replica remove d --keep "$1" >said || { cat said; fail "$*"; }
                        not test -e "$STATE"
                        prints "" replica list
                        if [ "$1" = dirty ]; then
                            grep -qs unsent "$STORE/s/2" "$HERE/data/replica/d preserved "*/s/2 || fail "$*: an edit is gone"
                            grep -qs new "$STORE/new" "$HERE/data/replica/d preserved "*/new || fail "$*: new is gone"
                        fi
                        [ "$1" != downloaded ] || equal "$(cat "$HERE/data/replica/d preserved "*/s/3)" 3
                        rm -rf "$HERE/data/replica/d preserved "* "$SRC" "$STORE"; mkdir "$STORE"
                    }
                    broken_off=0
                    for n in 1 2; do tried dirty renameat2 $n; done
                    for n in 3 4; do tried downloaded renameat2 $n; done
                    tried downloaded rename 2
                    for n in 2 12; do tried none unlinkat $n; done
                    tried dirty rmdir 2
                    equal "$broken_off" 8
                    """#)
        }
    }

    @Test func aFailedRemovalReportsTheRest() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                mkdir "$SRC/s"; echo held >"$SRC/s/held"; echo sent >"$SRC/sent"; begin; settle
                chattr +i "$TREE/s/held"
                refused 1 "the removal of d is not finished (operation not permitted, in $STATE): 'replica remove d' continues it" \
                    replica remove d
                equal "$(cd "$TREE"; find . -type f)" ./s/held
                refused 32 "'replica remove d' continues it" mount_replica d "$MNT"
                refused 1 "'replica remove d' continues it" replica remove d
                chattr -i "$TREE/s/held"
                replica remove d
                not test -e "$STATE"
                content_is "$STORE/s/held" held; content_is "$STORE/sent" sent
                """#)
        }
    }

    @Test func aKilledImportCanBeRepeated() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    mkdir "$HERE/disk"; mount -t tmpfs -o size=16m none "$HERE/disk"
                    # tried DIRECTORY CALL N
                    tried() {
                        mkdir "$1"; echo text >"$1/file"
                        killed_at "$2" "$3" --import d "$1" "file://$STORE"
                        [ -e "$1" ] || fail "$*: moved already"
                        content_is "$1/file" text
                        prints "" replica list
                        replica import d "$1" --store "file://$STORE" >/dev/null
                        settle; content_is "$STORE/file" text
                        replica remove d --keep none >/dev/null
                        prints "" ls -A "$HERE/data/replica"
                        prints "" ls -A "$HERE/disk"
                        rm "$STORE/file"
                    }
                    rmdir "$SRC"
                    tried "$SRC" rename 1          # the mark has not its name yet
                    tried "$SRC" renameat2 1       # all is there but the tree
                    tried "$HERE/disk/dir" rmdir 2 # what was made on the wrong disk is being taken back
                    tried "$HERE/disk/dir" mkdir 17 # the link is there, what it leads to is not
                    tried "$HERE/disk/dir" rename 2
                    """#)
        }
    }

    /// Files being evicted when the daemon is killed are neither truncated nor empty afterwards, here or in the store.
    /// Size and times are kept too, also if the disk does not support holes.
    @Test(arguments: ["", "-e inject=fallocate:error=EOPNOTSUPP"])
    func aKilledEvictionTruncatesNothing(_ disk: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + "disk='\(disk)'\n" + #"""
                    calls=(setxattr:1 fsetxattr:1 fallocate:1 ftruncate:1 ftruncate:2 utimensat:1 setxattr:2 fsetxattr:2)
                    head -c 10000 /dev/urandom >"$SRC/file"; touch -d '2020-02-02 02:02:02.123456789' "$SRC/file"; cp -p "$SRC/file" want
                    begin; settle
                    looks=$(stat -c '%s %y' want)
                    kept() { cmp "$1" want && equal "$(stat -c '%s %y' "$1")" "$looks"; }
                    made=
                    for at in "${calls[@]}"; do
                        # What fails at every try can't be killed at it.
                        [ -z "$disk" ] || [ "${at%:*}" != fallocate ] || continue
                        cat "$MNT/file" >/dev/null
                        replica download "$MNT/file" --wait >/dev/null
                        pid=$(daemon)
                        # shellcheck disable=SC2086
                        strace -f -qq -o calls -p "$pid" -e "trace=${at%:*},fallocate" $disk \
                            -e "inject=${at%:*}:signal=KILL:when=${at#*:}" 2>/dev/null &
                        # Each of its threads, or the call is made by one that is not.
                        traced() { ! grep -qs '^TracerPid:.0$' "/proc/$pid/task"/*/status; }
                        eventually traced
                        replica evict "$MNT/file" >/dev/null 2>&1 || true
                        [ -e "/proc/$pid/exe" ] || made="$made $at"
                        kill -9 "$pid" 2>/dev/null || true
                        gone "$pid"
                        wait
                        mount_it; settle
                        kept "$STORE/file" || fail "$at: in the store"
                        kept "$MNT/file" || fail "$at: here"
                    done
                    # It is killed where it is thought to be.
                    case $made in *"utimensat:1"*"setxattr:2"*) ;; *) fail "killed at$made" ;; esac
                    [ -z "$disk" ] || case $made in *"ftruncate:1 ftruncate:2"*) ;; *) fail "killed at$made" ;; esac
                    [ -n "$disk" ] || case $made in *fallocate:1*) ;; *) fail "killed at$made" ;; esac
                    """#)
        }
    }

    /// One of two that are made at once under one name is told, and disturbs the other in nothing.
    @Test func ofTwoImportsOfOneNameOneFails() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    mkdir a b sa sb; echo a >a/file; echo b >b/file
                    # The first waits where all is made but the tree.
                    bash -c 'kill -STOP $$; exec "$@"' bash "$BIN/mount.replica" --import d "$HERE/a" "file://$HERE/sa" >first 2>&1 &
                    first=$!
                    eventually grep -q '^State:.T' "/proc/$first/status"
                    strace -f -qq -o calls -p "$first" -e trace=renameat2 -e inject=renameat2:delay_enter=900000000:when=1 &
                    tracer=$!
                    eventually grep -q '^TracerPid:.[1-9]' "/proc/$first/status"
                    kill -CONT "$first"
                    eventually test -e "$STATE/mark"
                    refused 12 "another process is creating a domain in $HERE/data/replica: try again" \
                        replica import d "$HERE/b" --store "file://$HERE/sb"
                    content_is b/file b
                    kill -KILL "$tracer"; wait "$tracer" || true
                    eventually content_is sa/file a
                    finds_no -q '/sb"' "$STATE/domain.json"
                    grep -q '/sa"' "$STATE/domain.json"
                    mount_it; content_is "$MNT/file" a
                    """#)
        }
    }
}
