import Testing

/// The sets of materialized and of pending items, followed from the command line, and items by their IDs.
@Suite struct SetFeedTests {
    private static let words = """
        since() { replica "$1" d --since "$2"; }
        # The anchor at the end of a list.
        anchor() { sed -n '$s/^anchor //p' "$1"; }
        changes() { sed '/^anchor/d' "$1" | sort; }
        id() { getfattr --only-values -n user.replica.id "$1"; }

        """

    @Test func materializedItemsAreReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    mkdir "$STORE/d"; for n in one two three; do echo "$n" >"$STORE/d/$n"; done
                    replica add d --store "file://$STORE" >/dev/null; mount_it; settle
                    cat "$MNT/d/one" >/dev/null
                    since materialized '' >all
                    equal "$(changes all)" $'+ d\n+ d/one'
                    prints $'d\nd/one' replica materialized d
                    since materialized "$(anchor all)" >none
                    prints "" changes none
                    cat "$MNT/d/two" >/dev/null
                    since materialized "$(anchor none)" >two
                    equal "$(changes two)" "+ d/two"
                    # An anchor outlives the daemon, and what happened without anybody asking is told.
                    kill_daemon; mount_it
                    cat "$MNT/d/three" >/dev/null; gone=$(id "$MNT/d/two")
                    replica evict "$MNT/d/one" >/dev/null; rm "$MNT/d/two"; settle
                    since materialized "$(anchor two)" >three
                    equal "$(changes three)" "$(printf '%s\n' '+ d/three' '- d/one' "- (gone)  $gone" | sort)"
                    # Who asks from further back learns of each item once, as it is now.
                    since materialized "$(anchor all)" >further
                    told=$(changes three); prints "$told" changes further
                    told=$(anchor three); prints "$told" anchor further
                    replica materialized d --since "$(anchor two)" --json >json
                    grep -q '"path":"d/three"' json
                    grep -q '^{"left":{"id":"[^"]*","number":[0-9]*,"path":"d/one"}}$' json
                    grep -qF "{\\"left\\":{\\"id\\":\\"$gone\\"," json
                    equal "$(tail -n 1 json)" "{\\"anchor\\":\\"$(anchor three)\\"}"
                    """)
        }
    }

    @Test func pendingItemsAreReported() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    echo old >"$SRC/old"; begin; settle
                    replica disconnect d --reason test >/dev/null
                    since pending '' >all
                    prints "" changes all
                    echo new >"$MNT/new"; rm "$MNT/old"
                    since pending "$(anchor all)" >unsent
                    equal "$(changes unsent | sed 's/  .*//')" $'+ new\n+ old'
                    replica connect d >/dev/null; settle
                    since pending "$(anchor unsent)" >sent
                    equal "$(changes sent | sed 's/)  .*/)/')" $'- (gone)\n- new'
                    """)
        }
    }

    @Test func anInvalidAnchorHasExpired() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    echo one >"$SRC/one"; begin; settle
                    mkdir e other; replica import e e --store "file://$HERE/other" >/dev/null
                    expired() {
                        refused 19 "the anchor has expired or belongs to another list; start again with --since ''" \
                            replica "$1" d --since "$2"
                    }
                    since pending '' >pending; since materialized '' >here; replica pending e --since '' >elsewhere
                    for wrong in nonsense 1.2 "$(anchor here)" "$(anchor elsewhere)"; do expired pending "$wrong"; done
                    expired materialized "$(anchor pending)"
                    since pending "$(anchor pending)" >/dev/null
                    replica remove e --keep none >/dev/null
                    """)
        }
    }

    /// The state of an anchor is on the disk before the anchor is printed.
    @Test func anAnchorSurvivesAPowerCut() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    disk_at data; mkdir data/src; SRC=$HERE/data/src
                    for n in $(seq 20); do echo "$n" >"$SRC/f$n"; done
                    begin; settle
                    since materialized '' >all
                    replica evict "$MNT/f1" >/dev/null
                    since materialized "$(anchor all)" >first
                    equal "$(changes first)" "- f1"
                    cut_power data; mount_it; settle
                    replica evict "$MNT/f2" >/dev/null
                    since materialized "$(anchor first)" >second
                    has second "- f2"
                    """)
        }
    }

    @Test func anItemIsFoundByItsID() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    mkdir "$SRC/d"; echo text >"$SRC/d/f"; begin; settle
                    of=$(id "$MNT/d/f")
                    equal "$(replica path d "$of")" "$MNT/d/f"
                    equal "$(replica path d "$(id "$MNT")")" "$MNT"
                    # A name that a line cannot hold is printed as it is, for a program.
                    mv "$MNT/d/f" "$MNT/d"/$'new\nname'
                    equal "$(cat "$(replica path d "$of")")" text
                    equal "$(replica path d "$of" --json | grep -o '"path":"[^"]*"')" '"path":"d/new\\nname"'
                    mv "$MNT/d"/* "$MNT/g"
                    unmount_it
                    equal "$(replica path d "$of")" d:g
                    has <(replica status "$(replica path d "$of")") "$of"
                    mount_it; rm "$MNT/g"
                    refused 6 "d: no item here has the id '$of'" replica path d "$of"
                    refused 6 "no item here has the id 'nonsense'" replica path d nonsense
                    """)
        }
    }

    @Test func aTemporaryDisconnectionEndsWithTheDaemon() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; settle
                replica disconnect d --reason "an update" --temporary >/dev/null
                has <(replica status d) "disconnected: an update (until the daemon is restarted)"
                echo text >"$MNT/f"
                refused 7 "timed out" replica wait d --timeout 1
                kill_daemon; mount_it; settle; same
                replica disconnect d --reason "a log-out" >/dev/null
                kill_daemon; mount_it
                has <(replica status d) "disconnected: a log-out"
                replica status d >said; lacks said "until"
                """)
        }
    }
}
