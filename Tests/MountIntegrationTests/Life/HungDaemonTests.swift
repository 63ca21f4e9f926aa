import Testing

/// One domain's daemon does not answer.
@Suite struct HungDaemonTests {
    @Test func aStoppedDaemonBlocksNoOtherCommand() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                begin; settle
                for n in 2 3; do
                    mkdir "store$n" "mnt$n"
                    replica add "e$n" --store "file://$HERE/store$n" >/dev/null
                    replica mount "e$n" "mnt$n" >/dev/null
                done
                echo fine >mnt2/file
                pid=$(daemon)
                kill -STOP "$pid"
                trap 'kill -CONT "$pid"' EXIT
                # A busy machine may keep the others from answering soon enough.
                all_but_one_are_listed() {
                    local got=0
                    timeout 100 "$BIN/replica" list >said 2>errors || got=$?
                    [ "$got" = 7 ] && [ "$(cat errors)" = "replica: d: its daemon (process $pid) does not answer" ] &&
                        [ "$(cut -f 1,4 said)" = "$(printf 'e2\t%s\ne3\t%s' "$HERE/mnt2" "$HERE/mnt3")" ]
                }
                eventually all_but_one_are_listed
                # It is not asked at all about what is not its own.
                equal "$(replica status mnt2/file --json 2>&1 | grep -o '"path":"file"')" '"path":"file"'
                replica pin mnt2/file >said 2>&1
                lacks said "does not answer"
                kill -CONT "$pid"
                trap - EXIT
                all_are_listed() { [ "$(replica list 2>/dev/null | cut -f 1)" = "$(printf 'd\ne2\ne3')" ]; }
                eventually all_are_listed
                umount mnt2 mnt3
                """#)
        }
    }

    /// Each command gives up, and what it asked for is not carried out when the daemon goes on.
    @Test func eachCommandGivesUp() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                echo one >"$SRC/a"
                begin; settle
                mkdir mnt2
                for name in c e; do mkdir "$name"; replica add "$name" --store "file://$HERE/$name" >/dev/null; done
                pid=$(daemon)
                line="replica: d: its daemon (process $pid) does not answer"
                gives_up() {
                    local got=0 errors
                    errors=$(timeout 100 "$@" 2>&1 >/dev/null) || got=$?
                    [ "$got" = "${code:-7}" ] && [ "$errors" = "${program:-}$line" ] || fail "$*: $got, $errors"
                }
                # In the mount itself, of a name that could be an item's of a domain.
                (cd "$MNT"; touch "$HERE/inside"; eventually test -e "$HERE/stopped"; gives_up "$BIN/replica" pin x:a) & jobs=$!
                eventually test -e inside
                kill -STOP "$pid"
                trap 'kill -CONT "$pid"' EXIT
                touch stopped
                while read -r words; do
                    gives_up "$BIN/replica" $words & jobs="$jobs $!"
                done <<END
                status d
                status d:a
                status $MNT/a
                unmount d
                unmount $MNT
                unmount d --flush
                remove d --keep none
                evict d:a
                evict $MNT/a
                download d:a --wait
                pin d:a
                conflicts d
                pending d
                watch d
                wait d
                retry d
                disconnect d --reason test
                path d 7
                mount d $HERE/mnt2
                END
                code=32 program=mount. gives_up "$BIN/mount.replica" d "$HERE/mnt2" & jobs="$jobs $!"
                for job in $jobs; do wait "$job"; done
                # The other domains are removed all the same.
                got=0; timeout 100 "$BIN/replica" remove --all --yes >said 2>errors || got=$?
                equal "$got" 7
                equal "$(cat errors)" "$line"
                equal "$(cat said)" "$(printf 'c is removed\ne is removed')"
                kill -CONT "$pid"
                trap - EXIT
                settle
                is_mounted
                prints "$pid" daemon
                replica status d:a --json >said
                has said '"state":"materialized"'
                has said '"pinned":false'
                content_is "$MNT/a" one
                replica status d --json >said
                lacks said '"state":"disconnected"'
                """#)
        }
    }
}
