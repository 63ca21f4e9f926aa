import Testing

/// A mount that is no longer in the tree but still in use.
@Suite struct DetachedMountTests {
    private let words = #"""
        # Somebody who stays in the mount, with a file open, until `stay` is gone.
        stay_in_it() {
            touch stay
            (cd "$MNT"; exec 8>>inside; exec 9<&-; while [ -e "$HERE/stay" ]; do sleep 0.1; done) &
            holder=$!
            eventually test -e "$MNT/inside"
            here() { [ "$(readlink "/proc/$holder/cwd")" = "$MNT" ]; }
            eventually here
        }
        leave_it() { rm stay; wait "$holder" || true; }
        held_by() { replica status d --json | grep -F '"heldMount":{' | grep -E "\"processes\":\[([0-9,]*,)?$1[],]" >/dev/null; }

        """#

    @Test func aDetachedDomainIsMountedAgain() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    echo one >"$SRC/one"
                    begin; settle; stay_in_it
                    code=0; said=$(replica unmount d 2>&1) || code=$?
                    # Others may have a copy of it in a namespace of theirs just now.
                    equal "$code" 12; [[ $said == *"$MNT is in use by "*"bash ($holder)"* ]] || fail "$said"
                    umount -l "$MNT"
                    held_by "$holder" || fail "$(replica status d --json)"
                    replica status d >said
                    has said "a detached mount of $MNT is still in use by process"
                    finds_no -q "mounted on *$MNT" said
                    equal "$(cat "/proc/$holder/cwd/one")" one
                    mount_it
                    is_mounted
                    content_is "$MNT/one" one
                    echo new >"$MNT/new"
                    not held_by "$holder"
                    # The old one is cut off, and says so.
                    not cat "/proc/$holder/cwd/one" 2>/dev/null
                    settle; same
                    leave_it
                    content_is "$MNT/new" new
                    """#)
        }
    }

    @Test(arguments: ["kill -TERM", "replica unmount d #", "replica remove d --keep none #"])
    func aSignalEndsTheDaemon(command: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    begin; settle; stay_in_it
                    pid=$(daemon)
                    umount -l "$MNT"
                    held_by "$holder"
                    \#(command) "$pid"
                    gone "$pid"
                    kill -0 "$holder"
                    leave_it
                    [ ! -e "$STATE" ] || { mount_it; test -e "$MNT/inside"; settle; same; }
                    """#)
        }
    }

    @Test func aCopyInAnotherNamespaceBlocksNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    begin; settle
                    copy() {
                        rm -f ready; touch stay
                        unshare -m --propagation private bash -ec 'leave_others; touch ready; while [ -e stay ]; do sleep 0.1; done' &
                        holder=$!
                        eventually test -e ready
                    }
                    copy
                    umount "$MNT"
                    held_by "$holder" || fail "$(replica status d --json)"
                    mount_it
                    echo new >"$MNT/new"
                    leave_it
                    copy
                    pid=$(daemon)
                    replica unmount d
                    gone "$pid"
                    mount_it
                    content_is "$MNT/new" new
                    leave_it
                    settle; same
                    """#)
        }
    }
}
