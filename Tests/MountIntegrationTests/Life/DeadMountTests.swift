import Testing

/// A mount whose daemon was killed.
@Suite struct DeadMountTests {
    @Test func aDeadMountIsShownWithTheCommandThatFixesIt() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                echo one >"$SRC/one"
                begin; settle; kill_daemon
                mend="replica mount d $MNT"
                replica status d >said
                has said "stopped: its daemon is gone and left a dead mount: '$mend' mounts it again"
                grep -q "^  dead mount  *$MNT$" said
                replica status d --json | grep -qF "\"deadMount\":\"$MNT\""
                code=0; replica status d --check >/dev/null || code=$?; equal "$code" 8
                replica list >said 2>err
                equal "$(cut -f 1,2,4 said)" "$(printf 'd\tstopped\t%s' "$MNT")"
                has err "replica: d: its daemon is gone and left a dead mount: '$mend' mounts it again"
                eval "$mend" >/dev/null
                content_is "$MNT/one" one
                replica status d >said; finds_no -q "dead" said
                unmount_it
                replica status d >said; finds_no -q "dead" said
                """#)
        }
    }
}
