import Testing

/// A file with two names, of which the store changes one: they are two files from then on.
@Suite struct LinkedNameTests {
    /// The kernel knows both names as one inode: a write to the changed one must not go to the other.
    @Test(arguments: ["a/x", "c/y"], ["in place", "by rename"])
    func aNameThatTheStoreChangedIsAnotherFile(changed: String, how: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                "changed=\(changed) how='\(how)'\n" + #"""
                    echo base >"$SRC/base"; begin
                    mkdir "$MNT/a" "$MNT/c"; echo one >"$MNT/a/x"; ln "$MNT/a/x" "$MNT/c/y"; settle
                    other=c/y; [ "$changed" = a/x ] || other=a/x
                    [ "$MNT/a/x" -ef "$MNT/c/y" ]; cat "$MNT/a/x" "$MNT/c/y" >/dev/null
                    if [ "$how" = "in place" ]; then echo theirs >"$STORE/$changed"; else
                        echo theirs >"$STORE/new"; mv "$STORE/new" "$STORE/$changed"
                    fi
                    are_apart() { [ ! "$TREE/a/x" -ef "$TREE/c/y" ]; }
                    eventually are_apart; settle
                    content_is "$MNT/$changed" theirs; content_is "$MNT/$other" one
                    equal "$(stat -c %h "$MNT/a/x" "$MNT/c/y" | tr '\n' ' ')" "1 1 "
                    echo ours >>"$MNT/$changed"; settle
                    for folder in "$MNT" "$STORE"; do
                        content_is "$folder/$changed" $'theirs\nours'
                        content_is "$folder/$other" one
                    done
                    """#)
        }
    }
}
