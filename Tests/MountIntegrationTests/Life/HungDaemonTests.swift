import Testing

/// One domain's daemon does not answer.
@Suite struct HungDaemonTests {
    @Test func aStoppedDaemonHoldsUpNobodyElse() async throws {
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
}
