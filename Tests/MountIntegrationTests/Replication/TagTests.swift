import Testing

/// Tags, favorites and last-used dates, set by programs and read by other clients in the store's directory.
@Suite struct TagTests {
    @Test func tagsAreSyncedBothWays() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                begin
                value() { getfattr --only-values -n "$2" "$1" 2>/dev/null || echo none; }
                value_is() { [ "$(value "$1" "$2")" = "$3" ]; }
                cd "$MNT"; echo one >file; mkdir folder
                cd "$HERE"; settle
                for at in file folder; do
                    setfattr -n user.xdg.tags -v red,green "$MNT/$at"
                    setfattr -n user.replica.favorite -v 3 "$MNT/$at"
                    setfattr -n user.replica.lastused -v 1700000000000000000 "$MNT/$at"
                done
                settle
                for at in file folder; do
                    equal "$(value "$STORE/$at" user.xdg.tags)" red,green
                    equal "$(value "$STORE/$at" user.replica.favorite)" 3
                    equal "$(value "$STORE/$at" user.replica.lastused)" 1700000000000000000
                    setfattr -n user.xdg.tags -v blue "$STORE/$at"
                    setfattr -x user.replica.favorite "$STORE/$at"
                done
                for at in file folder; do
                    eventually value_is "$MNT/$at" user.xdg.tags blue
                    eventually value_is "$MNT/$at" user.replica.favorite none
                    setfattr -x user.xdg.tags "$MNT/$at"
                done
                settle
                for at in file folder; do equal "$(value "$STORE/$at" user.xdg.tags)" none; done
                """#)
        }
    }

    @Test func untaggedFilesHaveNoTags() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                begin
                cd "$MNT"; mkdir folder; echo one >file; echo two >saved; settle
                echo more >>file; echo newer >.saved.tmp; mv .saved.tmp saved; chmod 600 file; settle
                cd "$HERE"; kill_daemon; mount_it
                cd "$MNT"; chmod 640 file; chmod 700 folder; cd "$HERE"; settle; same
                for at in file saved folder; do
                    not getfattr -n user.xdg.tags "$STORE/$at" 2>/dev/null
                    prints "" getfattr -d "$MNT/$at"
                done
                """#)
        }
    }
}
