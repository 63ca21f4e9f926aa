import Foundation
import Testing

/// Domains in stores that are separate programs: the examples, installed where root's daemons search, in a mount
/// namespace.
@Suite struct ProgramStoreTests {
    private static let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "examples").path

    /// Runs the script from standard input with the examples installed, and nothing else in /usr/local/lib.
    private static let words = """
        with_stores() {
            { declare -f; cat; } >script
            unshare --mount --propagation private bash -Eeuo pipefail -c '
                trap "echo \\"failed at \\$LINENO: \\$BASH_COMMAND\\" >&2; tail -n 20 \\"\\$STATE/daemon.log\\" >&2" ERR
                leave_others
                mount -t tmpfs -o mode=755 none /usr/local/lib
                mkdir -p /usr/local/lib/replica/stores "$HERE/storage"
                install -m 755 "\(examples)"/replica-store-* /usr/local/lib/replica/stores/
                . "$HERE/script"'
        }
        store_process() { pgrep -P "$(daemon)"; }

        """

    private static func run(_ script: String, location: SourceLocation = #_sourceLocation) async throws {
        try await Trial.run { trial in
            try await trial.shell(words + "with_stores <<'END'\n\(script)\nEND", location: location)
        }
    }

    /// The store is polled. What has changed since is found out when a file is opened: cp and mv trust the size then.
    @Test(arguments: [(131_113, 102), (131_113, 300_030), (5_000, 7), (7, 5_000)])
    func aCopyOfWhatHasChangedSinceTheListingIsWhole(old: Int, new: Int) async throws {
        try await Self.run(
            """
            mkdir copies
            for n in 1 2 3 4; do head -c \(old) /dev/urandom >"storage/$n"; done
            replica add d --store "example://$HERE/storage" >/dev/null
            mount_it; ls -l "$MNT" >/dev/null
            for n in 1 2 3 4; do head -c \(new) /dev/urandom >new; mv new "storage/$n"; done
            for n in 1 2 3 4; do cp "$MNT/$n" copies/; cmp "storage/$n" "copies/$n"; done
            """)
    }

    @Test func aStoreInPythonServesADomain() async throws {
        try await Self.run(
            """
            mkdir storage/folder
            echo old >storage/folder/old
            replica add d --store "example://$HERE/storage" >/dev/null
            mount_it
            content_is "$MNT/folder/old" old
            echo new >"$MNT/new"
            chmod 640 "$MNT/new"
            ln -s new "$MNT/link"
            mkdir "$MNT/made"
            settle
            content_is storage/new new
            equal "$(stat -c %a storage/new)" 640
            equal "$(readlink storage/link)" new
            mv "$MNT/new" "$MNT/made/moved"
            rm "$MNT/link"
            settle
            content_is storage/made/moved new
            [ ! -e storage/new ] && [ ! -L storage/link ]
            head -c 3000000 /dev/urandom >"$MNT/large"
            settle
            cmp "$MNT/large" storage/large
            echo theirs >storage/folder/theirs
            in_time content_is "$MNT/folder/theirs" theirs
            rm storage/folder/old
            in_time not test -e "$MNT/folder/old"
            """)
    }

    /// As most programs do, it leaves the modes of what it makes to the umask. The daemon itself has none.
    @Test func filesOfTheStoreAreWritableByTheirOwnerOnly() async throws {
        try await Self.run(
            """
            {
                echo '#!/bin/sh'
                echo ": >$HERE/file-of-store; mkdir -p $HERE/folder-of-store"
                echo 'exec /usr/local/lib/replica/stores/replica-store-example'
            } >/usr/local/lib/replica/stores/replica-store-making
            chmod 755 /usr/local/lib/replica/stores/replica-store-making
            replica add d --store "making://$HERE/storage" >/dev/null
            mount_it
            equal "$(awk '/^Umask/ { print $2 }' "/proc/$(daemon)/status")" 0000
            equal "$(stat -c %a file-of-store folder-of-store | tr '\\n' ' ')" '644 755 '
            # Stricter, if the daemon was.
            umount "$MNT"; end_daemon; no_daemon
            rm -r file-of-store folder-of-store
            (umask 077; mount_it)
            eventually test -d folder-of-store
            equal "$(stat -c %a file-of-store folder-of-store | tr '\\n' ' ')" '600 700 '
            echo text >"$MNT/file"; chmod 666 "$MNT/file"; settle
            equal "$(stat -c %a "$TREE/file")" 666
            """)
    }

    /// The stores that parse what servers send write to their own folders only; others are not limited.
    @Test func ownStoresWriteToTheirOwnFoldersOnly() async throws {
        try await Self.run(
            """
            cat >/usr/local/lib/replica/stores/replica-store-s3 <<PROGRAM
            #!/usr/bin/python3
            import json, os, sys
            greeting, done = json.loads(sys.stdin.readline()), []
            for name in greeting["state"], greeting["spool"], "$HERE":
                try:
                    open(name + "/made", "w").write("text")
                    os.rename(name + "/made", name + "/moved")
                    os.truncate(name + "/moved", 1)
                    os.mkdir(name + "/folder")
                    os.rmdir(name + "/folder")
                    done.append("yes")
                except PermissionError:
                    done.append("no")
            try:
                open("$HERE/kept", "a").write("more")
                done.append("yes")
            except PermissionError:
                done.append("no")
            open("/dev/null", "w").write("text")
            done.append(open("$HERE/kept").read().strip())
            print(json.dumps({"error": {"code": "notAuthenticated", "message": "written: " + " ".join(done)}}), flush=True)
            PROGRAM
            cp /usr/local/lib/replica/stores/replica-store-s3 /usr/local/lib/replica/stores/replica-store-free
            chmod 755 /usr/local/lib/replica/stores/*
            echo kept >kept
            not replica add d --store 's3://bucket/folder?endpoint=http://127.0.0.1:1' 2>said
            grep -q 'written: yes yes no no kept' said
            equal "$(cat kept)" kept
            [ ! -e made ] && [ ! -e moved ]
            not replica add d --store 'free://bucket' 2>said
            grep -q 'written: yes yes yes yes' said
            """)
    }

    @Test func bothSidesOfAConflictAreKept() async throws {
        try await Self.run(
            """
            echo base >storage/file
            replica add d --store "example://$HERE/storage" >/dev/null
            mount_it
            content_is "$MNT/file" base
            replica disconnect d --reason test
            echo 'from here' >"$MNT/file"
            echo 'from there' >storage/file
            replica connect d
            in_time settle
            both() { cat "$MNT"/* | sort | tr '\\n' ' '; }
            in_time eval 'equal "$(both)" "from here from there " 2>/dev/null'
            in_time eval 'equal "$(cat storage/* | sort | tr "\\n" " ")" "from here from there " 2>/dev/null'
            """)
    }

    @Test func aStoreKilledDuringACallIsRestarted() async throws {
        try await Self.run(
            """
            for number in 1 2 3 4; do echo "content $number" >storage/file$number; done
            replica add d --store "example://$HERE/storage" >/dev/null
            mount_it
            content_is "$MNT/file1" 'content 1'
            first=$(store_process)
            kill -STOP "$first"
            cat "$MNT/file2" >read 2>/dev/null & reader=$!
            echo written >"$MNT/written"
            sleep 0.5
            kill -9 "$first"
            wait "$reader" || true
            in_time content_is "$MNT/file2" 'content 2'
            settle
            content_is storage/written written
            second=$(store_process)
            not equal "$first" "$second" 2>/dev/null
            # In the middle of sending, many times.
            for round in 1 2 3 4 5; do
                for number in $(seq 20); do echo "$round $number" >"$MNT/sent $number"; done
                kill -9 "$(store_process)" || true
            done
            in_time settle
            for number in $(seq 20); do content_is "storage/sent $number" "5 $number"; done
            equal "$(ls storage | wc -l)" 25
            equal "$(ls "$MNT" | wc -l)" 25
            # Its own end ends the store.
            last=$(store_process)
            umount "$MNT"
            end_daemon
            in_time not test -e "/proc/$last"
            """)
    }

    @Test func failuresAreReported() async throws {
        try await Self.run(
            """
            refused 15 "no store for 'nosuch://': there is no replica-store-nosuch in /usr/lib/replica/stores" \\
                replica add x --store nosuch:///y
            refused 15 "$HERE/none: No such file or directory" replica add x --store "example://$HERE/none"
            chmod 777 /usr/local/lib/replica
            refused 15 "/usr/local/lib/replica is writable by others, so it is not run" \\
                replica add x --store "example://$HERE/storage"
            chmod 755 /usr/local/lib/replica
            printf '#!/bin/sh\\nexit 7\\n' >/usr/local/lib/replica/stores/replica-store-dies
            {
                echo '#!/bin/sh'
                echo 'read line'
                echo "echo '{\\"error\\":{\\"code\\":\\"notAuthenticated\\",\\"message\\":\\"wrong password\\"}}'"
            } >/usr/local/lib/replica/stores/replica-store-login
            chmod 755 /usr/local/lib/replica/stores/*
            refused 15 "wrong password" replica add x --store login:///y
            refused 15 "replica-store-dies ended with status 7" replica add x --store dies:///y
            replica stores >stores
            has stores 'example://       /usr/local/lib/replica/stores/replica-store-example'
            replica help stores >stores
            has stores 'login://'
            # A domain whose store is gone mounts, and says so.
            echo text >storage/file
            replica add d --store "example://$HERE/storage" >/dev/null
            mount_it
            content_is "$MNT/file" text
            umount "$MNT"
            end_daemon
            mv /usr/local/lib/replica/stores/replica-store-example away
            mount_it
            content_is "$MNT/file" text
            echo more >"$MNT/more"
            says() { replica status d | grep -qF "$1"; }
            in_time says "there is no replica-store-example in"
            mv storage elsewhere
            mv away /usr/local/lib/replica/stores/replica-store-example
            in_time says "storage: No such file or directory"
            mv elsewhere storage
            in_time content_is storage/more more
            """)
    }

    /// Also a program that ignores the end of its input.
    @Test func theProgramExitsWithItsDaemon() async throws {
        try await Self.run(
            """
            echo text >storage/file
            place=/usr/local/lib/replica/stores/replica-store
            { cat "$place-example"; echo 'time.sleep(600)'; } >"$place-sleeper"
            chmod 755 "$place-sleeper"
            replica add d --store "sleeper://$HERE/storage" >/dev/null
            mount_it
            content_is "$MNT/file" text
            pid=$(store_process)
            equal "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$pid/status")" 1
            equal "$(awk '/^Max core file size/ { print $5, $6 }' "/proc/$pid/limits")" '1 1'
            # Nothing of the daemon's is open in it but the conversation, its errors and itself.
            for file in "/proc/$pid"/fd/*; do
                case $(readlink "$file") in socket:* | pipe:* | */replica-store-sleeper) ;; *) fail "$(readlink "$file")" ;; esac
            done
            finds_no -q storage "/proc/$pid/cmdline" "/proc/$pid/environ"
            kill_daemon
            gone "$pid"
            umount -l "$MNT"
            """)
    }

    @Test func usersHaveStoresOfTheirOwn() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                mkdir storage stores .local
                install -m 755 "\(Self.examples)/replica-store-example" stores/
                install -D -m 755 stores/replica-store-example .local/lib/replica/stores/replica-store-own
                as_replicatest <<'END'
                export PATH=$PATH:$HERE/stores
                echo text >storage/file
                replica stores >found
                has found "own://           $HOME/.local/lib/replica/stores/replica-store-own"
                has found "example://       $HERE/stores/replica-store-example"
                replica add d --store "own://$HERE/storage" >/dev/null
                mount_it
                content_is "$MNT/file" text
                echo more >"$MNT/more"
                settle
                content_is storage/more more
                replica add e --store "example://$HERE/storage" >/dev/null
                END
                """)
        }
    }

    @Test func theExampleKeepsEveryPromise() async throws {
        try await Self.run(
            """
            timeout 200 "$BIN/replica" test-store "example://$HERE/storage" >table || { tail -n 40 table; exit 1; }
            tail -n 1 table | grep -qE '^[0-9]+ kept, [0-9]+ skipped, 0 broken$' || { cat table; exit 1; }
            [ "$(grep -cE ' kept +[0-9.]+ s$' table)" -gt 80 ]
            prints "" ls storage
            """)
    }

    /// All of them take minutes in shell.
    @Test func theExampleInShellKeepsPromises() async throws {
        try await Self.run(
            """
            for text in created symlink rename 'deleting an unknown' 'with children' 'a file that changed' 'stale base'; do
                timeout 100 "$BIN/replica" test-store "shell://$HERE/storage" --only "$text" >table || { cat table; exit 1; }
                grep -qE ' kept +[0-9.]+ s$' table || { cat table; exit 1; }
            done
            prints "" ls storage
            # The examples lie when they are broken: this one says so.
            sed -i 's/rmdir "$local"/rm -r "$local"/' /usr/local/lib/replica/stores/replica-store-shell
            not timeout 100 "$BIN/replica" test-store "shell://$HERE/storage" --only 'with children' >table
            grep -q 'BROKEN' table
            """)
    }

    /// df(1) shows the store's space, even while the store hangs, and no write fails because the store has less.
    @Test func theSpaceOfTheStoreIsShown() async throws {
        try await Self.run(
            """
            mkdir small
            mount -t tmpfs -o size=16M none small
            replica add d --store "example://$HERE/small" >/dev/null
            mount_it
            bytes() { df --output="$1" -B1 "$MNT" | tail -1 | tr -d ' '; }
            is_known() { [ "$(bytes size)" = 16777216 ]; }
            in_time is_known
            [ "$(bytes avail)" -le 16777216 ]
            kill -STOP "$(store_process)"
            prints 16777216 timeout 100 bash -c "$(declare -f bytes); MNT=$MNT; bytes size"
            head -c 30000000 /dev/zero >"$MNT/larger than the store"
            equal "$(stat -c %s "$MNT/larger than the store")" 30000000
            kill -CONT "$(store_process)"
            rm "$MNT/larger than the store"
            echo small >"$MNT/small"
            settle
            content_is small/small small
            """)
    }
}
