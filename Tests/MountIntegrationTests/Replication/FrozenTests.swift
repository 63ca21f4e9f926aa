import Testing

/// Files that are immutable or append-only (chattr(1)) and change in the store.
@Suite struct FrozenTests {
    @Test func changesInTheStoreWaitForImmutableFiles() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                mkdir "$SRC/d"
                for name in content gone moved grows; do echo "text of $name" >"$SRC/$name"; done
                begin; settle
                chattr +i "$MNT/content" "$MNT/gone" "$MNT/moved" "$MNT/d"; chattr +a "$MNT/grows"
                lsattr "$MNT/content" | grep -q '^----i'
                echo newer >"$STORE/content"; rm "$STORE/gone"; mv "$STORE/moved" "$STORE/elsewhere"
                echo new >"$STORE/d/new"; echo newer >"$STORE/grows"
                # All else goes on.
                echo other >"$STORE/other"
                eventually content_is "$MNT/other" other
                problem() { replica status "$MNT/$1" | grep -q "immutable or append-only"; }
                for name in content gone moved grows; do
                    eventually problem "$name"
                    content_is "$MNT/$name" "text of $name"
                done
                # What is said of a name that is not here is counted.
                not ls "$MNT/d/new" 2>/dev/null
                chattr -i "$MNT/content" "$MNT/gone" "$MNT/moved" "$MNT/d"; chattr -a "$MNT/grows"
                replica retry d
                settle; same
                content_is "$MNT/content" newer
                """#)
        }
    }

    @Test func immutableFilesAreMaterialized() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                mkdir "$SRC/d"; echo inside >"$SRC/d/inside"
                echo text >"$SRC/file"; echo kept >"$SRC/kept"
                begin; settle
                replica evict "$MNT/file" >/dev/null
                replica evict "$MNT/d" >/dev/null
                chattr +dA "$MNT/file"
                equal "$(stat -c %b "$TREE/file")" 0
                chattr +i "$MNT/file"
                content_is "$TREE/file" text
                chattr +i "$MNT/d"
                content_is "$MNT/d/inside" inside
                # Nothing takes the content away again. The mount's own root can't be frozen.
                has <(replica evict "$MNT/file" 2>&1) "file was not evicted: operation not permitted"
                content_is "$TREE/file" text
                not chattr +i "$MNT" 2>/dev/null
                # Also over a kill, and its end.
                kill_daemon; mount_it
                lsattr "$MNT/file" | grep -q '^----i-dA'
                refused 1 "Operation not permitted" rm -f "$MNT/file"
                # Newer content of the store has the flags that its owner gave the file.
                chattr -i "$MNT/file" "$MNT/d"
                echo newer >"$STORE/file"
                eventually content_is "$MNT/file" newer
                lsattr "$MNT/file" | grep -q '^------dA'
                settle; same
                """#)
        }
    }
}
