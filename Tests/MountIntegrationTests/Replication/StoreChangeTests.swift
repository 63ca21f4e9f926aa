import Testing

/// Other clients' changes in the store's directory appear on the mount.
@Suite struct StoreChangeTests {
    @Test func anAppendIsSeenByANewTail() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/log"
                begin; settle
                content_is "$MNT/log" one
                inode=$(stat -c %i "$MNT/log")
                exec 3<"$MNT/log"; equal "$(cat <&3)" one
                tail -s 0.1 -F "$MNT/log" >"$HERE/before" 2>"$HERE/complaints" & before=$!
                eventually has "$HERE/before" one
                inotifywait -q -m -e modify "$MNT" >"$HERE/events" 2>&1 & watcher=$!
                watching() { grep -q inotify /proc/$watcher/fdinfo/* 2>/dev/null; }
                eventually watching
                echo two >>"$STORE/log"
                eventually content_is "$MNT/log" $'one\ntwo'
                # Who watches the folder is told, who has it open reads no half of it, and its number is the same.
                eventually has "$HERE/events" "MODIFY log"
                prints "" cat <&3
                equal "$(stat -c %i "$MNT/log")" "$inode"
                tail -s 0.1 -n +1 -F "$MNT/log" >"$HERE/after" 2>>"$HERE/complaints" & after=$!
                eventually has "$HERE/after" two
                kill "$before" "$after" "$watcher"
                equal "$(cat "$HERE/before")" one
                prints "" cat "$HERE/complaints"
                """)
        }
    }

    @Test func aCachedEntryIsUpdatedImmediately() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$SRC/d"; for n in 1 2 3 4; do echo "old $n" >"$SRC/d/f$n"; done
                begin; settle; cd "$MNT/d"
                # What this shell's own lookups put into the kernel's caches must not outlive the change.
                ls -l >/dev/null; cat f* >/dev/null; not test -e new
                echo new >"$STORE/d/new"; eventually content_is new new
                echo "longer than before" >"$STORE/d/f1"; eventually content_is f1 "longer than before"
                rm "$STORE/d/f2"; gone2() { not test -e f2; }; eventually gone2
                mv "$STORE/d/f3" "$STORE/d/g3"; eventually content_is g3 "old 3"; not test -e f3
                chmod 600 "$STORE/d/f4"; mode() { [ "$(stat -c %a f4)" = 600 ]; }; eventually mode
                mkdir -p "$STORE/d/deep/er"; echo x >"$STORE/d/deep/er/file"; eventually content_is deep/er/file x
                mv "$STORE/d/deep" "$STORE/deep"; eventually content_is "$MNT/deep/er/file" x; not test -e deep
                rm -r "$STORE/deep"; gone3() { not test -e "$MNT/deep"; }; eventually gone3
                settle; same
                """)
        }
    }

    @Test func aRewriteOfTheSameSizeInTheSameSecondIsSeen() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo aaaa >"$SRC/file"
                begin; settle
                for text in bbbb cccc dddd; do
                    echo $text >"$STORE/file"
                    eventually content_is "$MNT/file" $text
                done
                # All within a second.
                for n in $(seq 10 99); do echo "no$n" >"$STORE/file"; done
                eventually content_is "$MNT/file" no99
                settle; same
                """)
        }
    }

    /// A file that another client replaces exists all the time, only under its name, as one item.
    @Test func aFileBeingReplacedIsNeverMissing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$SRC/d" "$HERE/beside"; for n in {10..29}; do echo 0 >"$SRC/d/f$n"; done
                begin; settle; cd "$MNT/d"
                before=$(stat -c %i f*)
                replace() {
                    for turn in {1..500}; do
                        echo "$turn" >"$HERE/beside/new"; mv "$HERE/beside/new" "$STORE/d/f$((10 + RANDOM % 20))"
                    done
                }
                replace & writer=$!
                misses=0
                while kill -0 "$writer" 2>/dev/null; do
                    for n in {10..29}; do read -r line <"f$n" || misses=$((misses + 1)); done
                    set -- *; [ $# = 20 ] || misses=$((misses + 1))
                done
                wait "$writer"
                [ "$misses" = 0 ]
                settle; same
                set -- *; [ $# = 20 ]; [ "$(stat -c %i f*)" = "$before" ]
                """)
        }
    }

    /// Also if the temporary file existed so long that it appeared here.
    @Test func aFileBeingReplacedByAKnownFileIsNeverMissing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                for n in {10..14}; do echo 0 >"$STORE/f$n"; done
                replica add d --store "file://$STORE" >/dev/null; mount_it; cd "$MNT"
                read -r _ <f10; before=$(stat -c %i f*)
                replace() {
                    for turn in {1..30}; do
                        : >"$STORE/new"; sleep "0.0$((10 + RANDOM % 90))"
                        echo "$turn" >"$STORE/new"; sleep "0.0$((10 + RANDOM % 90))"
                        mv "$STORE/new" "$STORE/f$((10 + RANDOM % 5))"
                    done
                }
                replace & writer=$!
                misses=0
                while kill -0 "$writer" 2>/dev/null; do
                    for n in {10..14}; do read -r line <"f$n" || misses=$((misses + 1)); done
                done
                wait "$writer"
                equal "$misses" 0
                settle; same
                [ "$(stat -c %i f*)" = "$before" ]; not test -e new
                """)
        }
    }

    /// A first read returns the file's current content in the store, not an error because it changed a moment ago.
    @Test func aFirstReadOfAFileBeingReplacedSucceeds() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                for n in {10..29}; do echo 0 >"$STORE/f$n"; done
                replica add d --store "file://$STORE" >/dev/null; mount_it; cd "$MNT"; ls >/dev/null
                mkdir "$HERE/beside"; misses=0
                for turn in {1..100}; do
                    file=f$((10 + RANDOM % 20)); text=$(printf "%$((1 + RANDOM % 9000))s" "$turn")
                    printf %s "$text" >"$HERE/beside/new"
                    replica evict "$file" 2>/dev/null || true
                    mv "$HERE/beside/new" "$STORE/$file" & mover=$!
                    sleep "0.00$((RANDOM % 10))"
                    # Whatever it was or is, never a mixture.
                    read=$(cat "$file") || misses=$((misses + 1))
                    case $read in 0 | "$text" | *[0-9]) ;; *) fail "read: '$read'" ;; esac
                    wait "$mover"
                done
                equal "$misses" 0
                settle; same
                """)
        }
    }

    @Test func anotherProgramSyncsIntoTheStore() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir other; cd other
                for d in a b c; do mkdir "$d"; for n in $(seq 40); do echo "$d $n" >"$d/f$n"; done; done
                cd "$HERE"; begin; settle
                rsync -a other/ "$STORE/"
                arrived() { diff -r other "$MNT" >/dev/null 2>&1; }
                eventually arrived
                rm -r other/b; echo changed >other/a/f1; mv other/c other/moved
                rsync -a --delete other/ "$STORE/"
                eventually arrived
                settle; same
                """)
        }
    }

    @Test func watchersOfTheMountAreNotified() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/old"; echo two >"$SRC/gone"; echo three >"$SRC/moving"
                begin; settle
                (exec inotifywait -m -q --format '%e %f' "$MNT" >"$HERE/events") & watcher=$!
                noticed() { touch "$MNT/probe$((probe += 1))"; grep -q probe "$HERE/events"; }
                probe=0; eventually noticed
                echo new >"$STORE/new"; eventually grep -qE '^(CREATE|MOVED_TO) new' "$HERE/events"
                echo more >>"$STORE/old"; eventually grep -qE '^(MODIFY|CLOSE_WRITE.*|MOVED_TO) old' "$HERE/events"
                rm "$STORE/gone"; eventually grep -q '^DELETE gone' "$HERE/events"
                mv "$STORE/moving" "$STORE/moved"; eventually grep -q '^MOVED_TO moved' "$HERE/events"
                grep -q '^MOVED_FROM moving' "$HERE/events"
                kill $watcher
                """)
        }
    }

    @Test func changesDuringAStopAreFound() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$SRC/d" "$SRC/e"; for n in $(seq 30); do echo "$n" >"$SRC/d/f$n"; echo "$n" >"$SRC/e/f$n"; done
                begin; settle; unmount_it
                rm "$STORE/d/f1"; rm -r "$STORE/e"; echo changed >"$STORE/d/f2"; mv "$STORE/d/f3" "$STORE/f3"
                mkdir "$STORE/new"; echo new >"$STORE/new/file"
                mount_it; settle; same
                not test -e "$MNT/e"; content_is "$MNT/f3" 3
                # And both sides at once.
                unmount_it; mount_it; echo local >"$MNT/d/f4"; rm "$MNT/d/f5"; kill_daemon
                rm "$STORE/d/f6"; echo remote >"$STORE/d/f7"
                mount_it; settle; same
                content_is "$STORE/d/f4" local; not test -e "$STORE/d/f5"; not test -e "$MNT/d/f6"
                content_is "$MNT/d/f7" remote
                """)
        }
    }

    @Test func editsOnBothSidesAreKept() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo base >"$SRC/file"; echo base >"$SRC/deleted"
                begin; settle; unmount_it
                mv "$STORE" away; mount_it
                echo local >"$MNT/file"; echo local >"$MNT/deleted"
                mv away "$STORE.new"; echo remote >"$STORE.new/file"; rm "$STORE.new/deleted"; mv "$STORE.new" "$STORE"
                replica retry d; settle; same
                content_is "$MNT/file" remote
                grep -lx local "$MNT"/file*; content_is "$MNT/deleted" local
                """)
        }
    }
}
