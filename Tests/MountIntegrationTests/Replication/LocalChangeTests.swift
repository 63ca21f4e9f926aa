import Testing

/// Changes on the mount reach the store, and nothing else does.
@Suite struct LocalChangeTests {
    @Test func allChangesReachTheStore() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; cd "$MNT"
                mkdir -p a/b/c; echo text >a/b/c/file; ln -s file a/b/c/link; printf x >"$(printf 'bad\\377')"
                head -c 2000000 /dev/urandom >big; : >empty; chmod 750 a/b; chmod 600 big
                setfattr -n user.colour -v blue empty; touch -d @1234567890.987654321 big
                settle; same
                equal "$(stat -c '%a %.9Y' "$STORE/big")" "600 1234567890.987654321"
                equal "$(stat -c %a "$STORE/a/b")" 750
                equal "$(getfattr --only-values -n user.colour "$STORE/empty")" blue
                mv a/b/c/file moved; rm empty; echo more >>big; chmod 700 a/b; rm a/b/c/link; rmdir a/b/c
                settle; same
                equal "$(stat -c %a "$STORE/a/b")" 700
                """)
        }
    }

    /// Setting only a file's date changes its content version in the store.
    @Test func touchedFilesAreRemovedAndWrittenLikeOthers() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; cd "$MNT"; mkdir d e
                for n in $(seq 20); do echo "$n" >"d/file$n"; echo "$n" >"e/file$n"; done
                settle; touch d/* e/*; settle; touch -d @1000 d/* e/*; settle; same
                for n in $(seq 20); do echo new >>"e/file$n"; done
                rm -r d; settle; same
                equal "$(ls)" e; equal "$(ls e | wc -l)" 20; equal "$(cat e/file7)" "$(printf '7\nnew')"
                touch e/*; settle; rm -r e; mkdir e; echo other >e/file1; settle; same
                equal "$(find . | sort | tr '\n' ' ')" ". ./e ./e/file1 "
                """)
        }
    }

    @Test func aRenamedFolderKeepsTheStoresFiles() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir "$SRC/old"; cd "$SRC/old"; seq -f 'f%.0f' 1000 | xargs touch; cd "$HERE"
                begin; settle
                look() { (cd "$1" && stat -c '%n %i' * | sort); }
                before=$(look "$STORE/old")
                mkdir "$MNT/in"; mv "$MNT/old" "$MNT/in/new"
                settle; same
                equal "$(look "$STORE/in/new")" "$before"
                """)
        }
    }

    @Test func manySavesAreFewUploadsAndDeletedFilesNone() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; settle
                (exec inotifywait -m -r -q --format '%e %f' -e create,moved_to,delete "$STORE" >"$HERE/events") & watcher=$!
                # It watches when it notices the first file.
                noticed() { touch "$STORE/probe$((probe += 1))"; grep -q probe "$HERE/events"; }
                probe=0; eventually noticed
                for n in $(seq 200); do echo "save $n" >"$MNT/saved"; done
                # In one process: while a machine is busy starting `rm`, a file would be uploaded.
                python=$(command -v /usr/bin/python3 || command -v python3)
                "$python" - "$MNT" <<'PYTHON'
                import os, sys
                for n in range(50):
                    path = f"{sys.argv[1]}/passing{n}"
                    with open(path, "w") as file: file.write("text")
                    os.unlink(path)
                PYTHON
                settle; same
                echo end >"$STORE/end"; eventually grep -q end "$HERE/events"
                kill $watcher
                finds_no passing "$HERE/events"
                content_is "$STORE/saved" "save 200"
                saves=$(grep -c ' saved$' "$HERE/events")
                test "$saves" -ge 1; test "$saves" -le 20
                """)
        }
    }

    @Test func specialFilesStayLocal() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; cd "$MNT"
                mkfifo fifo; echo text >file; ln file hard
                settle
                equal "$(ls "$STORE" | tr '\\n' ' ')" "file hard "
                equal "$(stat -c %h file)" 2
                echo both >hard; settle
                content_is "$STORE/file" both; content_is "$STORE/hard" both
                rm hard; settle; not test -e "$STORE/hard"; test -p fifo
                """)
        }
    }
}
