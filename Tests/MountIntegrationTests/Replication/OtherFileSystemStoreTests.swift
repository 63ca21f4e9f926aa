import Testing

/// A store on a filesystem without attributes (ramfs, exFAT), where nothing in the store identifies a file's item.
@Suite struct OtherFileSystemStoreTests {
    private static let words = """
        mkdir disk; mount -t ramfs none disk; mkdir disk/store; STORE=$HERE/disk/store

        """ + functions

    /// By FUSE; the device is detached when it is unmounted.
    private static let exFAT = """
        mkdir disk; truncate -s 64M disk.image; mkfs.exfat disk.image >/dev/null; device=$(losetup -f --show disk.image)
        mount.exfat-fuse "$device" disk >/dev/null; losetup -d "$device"; mkdir disk/store; STORE=$HERE/disk/store

        """ + functions

    private static let functions = """
        is_idle() { case $(replica status d --json) in *'"state":"idle"'*) ;; *) return 1 ;; esac; }
        fill() { for n in $(seq "$1"); do echo "text $n" >"$SRC/f$n"; done; }
        # Nothing came twice, nothing is left on its way, and nothing waits for a person.
        well() {
            settle; same; eventually is_idle; prints "" find "$MNT" -name '* *'; prints "" find "$STORE" -name '.replica-*'
        }

        """

    @Test func localChangesReachTheStore() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 20; mkdir -p "$SRC/folder/inner"; echo deep >"$SRC/folder/inner/deep"; ln -s f1 "$SRC/link"
                    begin; well
                    grep -q '"keepsIdentifiers" : false' "$STATE/store.json"
                    echo new >"$MNT/new"; echo more >>"$MNT/f1"; mv "$MNT/f2" "$MNT/renamed"; mkdir "$MNT/made"
                    mv "$MNT/f3" "$MNT/made/f3"; rm "$MNT/f4"; chmod 600 "$MNT/f5"; touch -d @1000 "$MNT/f6"
                    mv "$MNT/folder" "$MNT/other"; rm "$MNT/link"; ln -s f7 "$MNT/made/link"
                    well
                    content_is "$STORE/other/inner/deep" deep; content_is "$STORE/renamed" "text 2"
                    equal "$(stat -c '%a' "$STORE/f5")" 600; equal "$(stat -c %Y "$STORE/f6")" 1000
                    # What has another name by now is still the same, and so is what took its name; also over a restart.
                    echo again >"$MNT/f2"; mkdir "$MNT/folder"; echo again >"$MNT/folder/deep"
                    well
                    unmount_it; mount_it
                    echo edited >"$MNT/renamed"; echo edited >>"$MNT/f2"; echo edited >"$MNT/other/inner/deep"
                    mv "$MNT/other/inner" "$MNT/folder/inner"; mv "$MNT/made" "$MNT/last"
                    well
                    content_is "$STORE/folder/inner/deep" edited; content_is "$STORE/renamed" edited
                    """)
        }
    }

    /// Its names have no case and exclude some characters, and it keeps neither modes nor symlinks.
    @Test func aStoreOnExFATIsSyncedBothWays() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.exFAT + #"""
                    fill 20; mkdir -p "$SRC/folder/inner"; echo deep >"$SRC/folder/inner/deep"
                    begin; well
                    echo new >"$MNT/new"; echo more >>"$MNT/f1"; mv "$MNT/f2" "$MNT/renamed"; rm "$MNT/f4"
                    mkdir "$MNT/made"; mv "$MNT/f3" "$MNT/made/f3"; mv "$MNT/folder" "$MNT/other"
                    chmod 600 "$MNT/f5"; touch -d @1000000000 "$MNT/f6"
                    mv "$MNT/f7" "$MNT/F7"; mv "$MNT/made" "$MNT/Made"
                    well
                    has_names() { ls "$1" >names; ls "$2" >others; cmp names others; }
                    test -e "$MNT/F7"; has_names "$MNT" "$STORE"
                    equal "$(stat -c %a "$MNT/f5")" 600; equal "$(stat -c %Y "$STORE/f6")" 1000000000

                    # What it can't hold stays here, and says why until it has another name.
                    echo x >"$MNT/a:b"; mkdir "$MNT/q?"; echo y >"$MNT/q?/in"; ln -s f1 "$MNT/link"
                    refused() { replica pending d >said; [ "$(grep -c "cannot hold this name" said)" = 2 ]; }
                    eventually refused
                    mv "$MNT/a:b" "$MNT/ab"; mv "$MNT/q?" "$MNT/q"
                    settle; content_is "$STORE/ab" x; content_is "$STORE/q/in" y
                    replica status d >said; has said "only here     1 item"; rm "$MNT/link"; well

                    # Two names that are one there.
                    echo low >"$MNT/case"; echo up >"$MNT/CASE"
                    settle; equal "$(cat "$STORE"/[cC][aA][sS][eE]* | sort | tr '\n' ' ')" "low up "; has_names "$MNT" "$STORE"

                    # The store's own changes, with and without a daemon. A change of the same size within two seconds may pass unnoticed.
                    change() {
                        echo "$1" >"$STORE/f1"; mv "$STORE/f9" "$STORE/g9"; rm "$STORE/f10"
                        mv "$STORE/F7" "$STORE/f7"; mv "$STORE/other" "$STORE/another"
                    }
                    change newer; settle; content_is "$MNT/f1" newer; content_is "$MNT/another/inner/deep" deep
                    has_names "$MNT" "$STORE"
                    unmount_it; mv "$STORE/f7" "$STORE/F7"; mv "$STORE/another" "$STORE/other"
                    echo "text 9" >"$STORE/f9"; echo "text 10" >"$STORE/f10"; rm "$STORE/g9"
                    change newest; mount_it; settle; content_is "$MNT/f1" newest; has_names "$MNT" "$STORE"
                    diff -r "$MNT" "$STORE"
                    """#)
        }
    }

    @Test func remoteChangesReachTheMount() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 20; mkdir -p "$SRC/folder/inner"; echo deep >"$SRC/folder/inner/deep"
                    begin; well
                    change() {
                        echo "new $1" >"$STORE/new$1"; echo "more $1" >>"$STORE/f$1"
                        mv "$STORE/g$1" "$STORE/renamed$1"; mv "$STORE/folder$1" "$STORE/folder$(($1 + 1))"
                        rm "$STORE/h$1"; ln -s "new$1" "$STORE/link$1"
                        echo "beside $1" >"$STORE/beside"; mv "$STORE/beside" "$STORE/f3"
                    }
                    mv "$STORE/folder" "$STORE/folder1"
                    for n in 1 2; do echo "g $n" >"$STORE/g$n"; echo "h $n" >"$STORE/h$n"; done
                    well
                    change 1; well
                    content_is "$MNT/renamed1" "g 1"; content_is "$MNT/folder2/inner/deep" deep
                    unmount_it; change 2; mount_it; well
                    content_is "$MNT/renamed2" "g 2"; content_is "$MNT/f3" "beside 2"
                    content_is "$MNT/folder3/inner/deep" deep
                    """)
        }
    }

    @Test func conflictsKeepBothVersions() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 5
                    begin; well
                    replica disconnect d --reason test >/dev/null
                    echo here >"$MNT/f1"; echo "also there" >"$STORE/f1"
                    echo here >"$MNT/f2"; rm "$STORE/f2"
                    rm "$MNT/f3"; echo "edited there" >"$STORE/f3"
                    replica connect d >/dev/null
                    settle; same; eventually is_idle
                    equal "$(cat "$MNT"/f1* | sort | tr '\\n' ' ')" "also there here "
                    content_is "$MNT/f2" here; content_is "$MNT/f3" "edited there"
                    equal "$(ls "$MNT" | grep -cv '^f[1-5]$')" 1; equal "$(ls "$MNT" | wc -l)" 6
                    """)
        }
    }

    @Test func anUnmountedStoreChangesNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 20; mkdir "$SRC/folder"; echo deep >"$SRC/folder/deep"
                    begin; well
                    mv "$MNT/folder" "$MNT/moved"; mv "$MNT/f1" "$MNT/g1"; well
                    unmount_it
                    mv "$STORE" disk/away
                    mount_it
                    offline() { replica status d --json | grep -q '"state":"offline"'; }
                    eventually offline
                    equal "$(ls "$MNT" | wc -l)" 21; content_is "$MNT/moved/deep" deep
                    echo new >"$MNT/new"; echo edited >"$MNT/g1"; mv "$MNT/f2" "$MNT/moved/f2"; rm "$MNT/f3"
                    echo there >disk/away/there; echo newer >disk/away/f4; rm disk/away/f5
                    mv disk/away "$STORE"; replica retry d
                    well
                    content_is "$STORE/g1" edited; content_is "$STORE/moved/f2" "text 2"; content_is "$MNT/f4" newer
                    not test -e "$STORE/f3"; not test -e "$MNT/f5"; content_is "$MNT/there" there
                    """)
        }
    }

    /// A file created by a call whose answer the daemon did not receive before it died is recognized.
    @Test func aKillDuplicatesNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 3
                    begin; well
                    arrived() { [ "$(ls "$STORE" | wc -l)" -gt "$1" ]; }
                    for round in 1 2 3 4 5; do
                        before=$(ls "$STORE" | wc -l)
                        mkdir "$MNT/d$round"
                        for n in $(seq 200); do echo "text $n" >"$MNT/d$round/f$n"; echo "text $n" >"$MNT/r$round-$n"; done
                        eventually arrived $((before + 20 * round))
                        kill_daemon; mount_it
                    done
                    well
                    equal "$(ls "$STORE" | wc -l)" 1008; equal "$(cat "$STORE/d3/f77")" "text 77"
                    """)
        }
    }

    /// If it is not mounted, another directory is at its path.
    @Test func aMissingDiskDeletesNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 20
                    mkdir stick; mount --bind disk/store stick; STORE=$HERE/stick
                    begin; well; unmount_it
                    umount stick; mount_it
                    said() { replica status d --json | grep -q '"reason":"'; }
                    eventually said
                    equal "$(ls "$MNT" | wc -l)" 20; prints "" ls -A stick
                    unmount_it; mount --bind disk/store stick; mount_it
                    echo edited >"$MNT/f1"
                    well
                    """)
        }
    }
}
