import Testing

/// A disk that fails to tell what is in a folder: what is not found may be there.
@Suite struct UnreadableFolderTests {
    private let words = #"""
        # fails CALL N COMMAND...: the Nth such call of each thread fails, of the command and of the daemon that it starts. strace(1) ends with
        # the daemon.
        fails() {
            local call=$1 n=$2 code; shift 2
            rm -f calls code
            strace -f -qq -o calls -e "trace=$call,renameat2" -e "inject=$call:error=EIO:when=$n" \
                bash -c '"$@" >said 2>&1; echo $? >code.new; mv code.new code' bash "$@" &
            tracer=$!
            eventually test -e code
            return "$(cat code)"
        }
        was_failed() { grep -q INJECTED calls; }
        files() { find "$1" -type f -not -name '.replica-*' | wc -l; }

        """#

    /// After a kill the tree is compared with the database. An error there is no deletion, and is tried again.
    @Test func deletesNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + """
                    mkdir -p "$SRC/a/b"; for n in 1 2 3; do echo "$n" | tee "$SRC/$n" "$SRC/a/$n" >"$SRC/a/b/$n"; done
                    begin; settle
                    replica evict "$MNT/a/b" >/dev/null
                    tried=0
                    for n in 1 2 3 4 5 6 8 10; do
                        kill_daemon; umount -l "$MNT"
                        # Or it says that it can't be mounted.
                        fails getdents64 $n "$BIN/replica" mount d "$MNT" || { has said "nput/output error"; mount_it; }
                        ! was_failed || tried=$((tried + 1))
                        settle
                        equal "$(files "$STORE")" 9
                        equal "$(cat "$MNT/1" "$MNT/a/2" "$MNT/a/b/3" | tr '\\n' ' ')" "1 2 3 "
                        replica evict "$MNT/a/b" >/dev/null
                    done
                    test "$tried" -gt 2
                    unmount_it; wait
                    """)
        }
    }

    @Test func anErrorThatStaysIsShown() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + """
                    mkdir -p "$SRC/1/2/3/4/5/6/7/8/9"; echo text >"$SRC/1/2/3/4/5/6/7/8/9/file"; begin; settle
                    kill_daemon; umount -l "$MNT"
                    fails getdents64 12+ "$BIN/replica" mount d "$MNT"
                    says() { replica status d >status; has status "can't be compared with what was uploaded: Input/output error"; }
                    eventually says
                    echo new >"$MNT/new"
                    not test -e "$STORE/new"
                    kill_daemon; umount -l "$MNT"; mount_it
                    settle; same; equal "$(files "$STORE")" 2
                    not says
                    """)
        }
    }

    /// What an import does not find would be left out.
    @Test func leavesNothingOutOfAnImport() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + """
                    tried=0
                    for n in 1 2 3 4 5 6 7 8; do
                        mkdir -p "$SRC/a/b"; for m in 1 2 3; do echo "$m" | tee "$SRC/$m" "$SRC/a/$m" >"$SRC/a/b/$m"; done
                        if fails getdents64 $n "$BIN/replica" import d "$SRC" --store "file://$STORE"; then
                            settle; equal "$(files "$STORE")" 9
                            end_daemon; wait; replica remove d --keep none --yes >/dev/null
                        else
                            equal "$(files "$SRC")" 9
                        fi
                        ! was_failed || tried=$((tried + 1))
                        rm -rf "$SRC" "$STORE"; mkdir "$STORE"
                    done
                    test "$tried" -gt 3
                    """)
        }
    }

    /// An error after the directory was moved into the domain moves it back.
    @Test func aFailedCheckMovesTheDirectoryBack() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + """
                    moved=0
                    is_moved() { awk '/renameat2.*= 0$/ { moved = 1 } /INJECTED/ && moved { found = 1 } END { exit !found }' calls; }
                    for n in 8 10 12 14 15 16 17 18 19 20 21 22 24 26; do
                        mkdir -p "$SRC"; echo text >"$SRC/file"
                        if fails statx $n "$BIN/replica" import d "$SRC" --store "file://$STORE"; then
                            settle; end_daemon; wait; replica remove d --keep none --yes >/dev/null
                        else
                            content_is "$SRC/file" text || { cat said; fail "$n"; }
                            not test -e "$STATE/tree"
                            ! is_moved || moved=$((moved + 1))
                        fi
                        rm -rf "$SRC" "$STORE"; mkdir "$STORE"
                    done
                    test "$moved" -gt 0
                    """)
        }
    }
}
