import Testing

/// Statements of CONFORMANCE.md about domains, by the commands and through the mount.
@Suite struct MountedStatementTests {
    /// A source with modes that differ in every class, times of long ago and a link.
    private static let source = """
        mkdir -p "$SRC/d/e"; head -c 100000 /dev/urandom >"$SRC/a"; echo b >"$SRC/d/b"; echo c >"$SRC/d/e/c"
        : >"$SRC/empty"; ln -s d/b "$SRC/link"
        chmod 644 "$SRC/a"; chmod 751 "$SRC/d/b"; chmod 640 "$SRC/d/e/c"; chmod 466 "$SRC/empty"
        chmod 750 "$SRC/d/e"; chmod 775 "$SRC/d"
        for at in a d/b d/e/c empty d/e d; do touch -d '2001-02-03 04:05:06.789' "$SRC/$at"; done
        # What each item is, as stat(2) tells it, but for folders' times.
        items() { (cd "$1"; find . -mindepth 1 -type f -printf '%p %y %m %s %T@\n' -o -type l -printf '%p %y %l\n' \
            -o -type d -printf '%p %y %m\n' | sort); }
        bytes() { (cd "$1"; find . -type f -exec sha256sum {} + | sort -k 2); }

        """

    @Test func statement1_anImportMakesADomain() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo text >"$SRC/file"
                prints "" replica list
                import_it
                equal "$(replica list | cut -f 1)" d
                mount_it
                equal "$(replica list | cut -f 1,4)" "$(printf 'd\t%s' "$MNT")"
                content_is "$MNT/file" text
                """)
        }
    }

    @Test func statement2_theDomainHasTheDirectorysData() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.source + """
                    items "$SRC" >before; bytes "$SRC" >sums
                    begin
                    items "$MNT" | diff before -; bytes "$MNT" | diff sums -
                    """)
        }
    }

    /// The reply is one line, and the directory is in the domain when that can be read.
    @Test func statement12_theMoveIsDoneBeforeTheReply() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo text >"$SRC/file"
                "$BIN/mount.replica" --import d "$SRC" "file://$STORE" | {
                    read -r reply
                    not test -e "$SRC"; content_is "$TREE/file" text
                    case $reply in *'"answer"'*) ;; *) fail "$reply" ;; esac
                }
                """)
        }
    }

    /// Nothing can be made in the store: its filesystem has no room for one file more.
    @Test func statement13_theImportDoesNotWaitForTheStore() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mount -t tmpfs -o nr_inodes=2,size=1m none "$STORE"; : >"$STORE/full" || true
                echo text >"$SRC/file"
                begin
                content_is "$MNT/file" text; not test -e "$STORE/file"
                mount -o remount,nr_inodes=100 "$STORE"; rm -f "$STORE/full"
                replica retry d >/dev/null; settle; content_is "$STORE/file" text
                """)
        }
    }

    @Test func statement23_allDomainsCanBeRemoved() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                mkdir two store2; replica import two two --store "file://$HERE/store2" >/dev/null
                equal "$(replica list | cut -f 1 | sort | tr '\n' ' ')" "d two "
                replica remove --all --yes >/dev/null
                prints "" replica list; not is_mounted
                """)
        }
    }

    @Test func statement70_theStoresItemsAreThoseOfTheTree() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.source + """
                    mkdir "$HERE/keep"; cp -a "$SRC" keep/; begin; settle
                    items "$STORE" | diff <(items keep/src) -; bytes "$STORE" | diff <(bytes keep/src) -
                    cp -a keep/src "$MNT/again"; settle
                    items "$STORE/again" | diff <(items keep/src) -; bytes "$STORE/again" | diff <(bytes keep/src) -
                    """)
        }
    }

    /// Nothing can be made in the store, until its filesystem has room for more files.
    @Test func statement17_anImportAndAReimportThatOverlapEndOnce() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mount -t tmpfs -o nr_inodes=2,size=1m none "$STORE"; : >"$STORE/full" || true
                mkdir "$SRC/d"; echo text >"$SRC/d/file"
                begin
                "$BIN/replica" watch d --json >events 2>/dev/null & listener=$!
                trap 'kill $listener' EXIT
                ends() { grep -c importDidFinish events || true; }
                is_heard() { echo x >>"$MNT/heard"; [ -s events ]; }
                eventually is_heard
                replica reimport "$MNT" >/dev/null
                mount -o remount,nr_inodes=100 "$STORE"; rm -f "$STORE/full"
                replica retry d >/dev/null; settle
                content_is "$STORE/d/file" text
                has_ended() { [ "$(ends)" -ge "$1" ]; }
                eventually has_ended 1
                # Another has an end of its own: by then a second one of the first would have been told.
                replica reimport "$MNT" >/dev/null; settle; eventually has_ended 2
                equal "$(ends)" 2
                """)
        }
    }
}
