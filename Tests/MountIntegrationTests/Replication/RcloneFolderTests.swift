import Foundation
import Testing

/// Domains on remotes of a real rclone, served by the store's program, which is installed where root's daemons search,
/// in a mount namespace.
@Suite struct RcloneFolderTests {
    private static let rclone = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/rclone/rclone")
        .path

    /// Runs the script from standard input; `store:` is an encrypted remote in $HERE/storage.
    private static let words = """
        with_rclone() {
            { declare -f; cat; } >script
            unshare --mount --propagation private --pid --fork --kill-child --mount-proc bash -Eeuo pipefail -c '
                trap "echo \\"failed at \\$LINENO: \\$BASH_COMMAND\\" >&2; tail -n 20 \\"\\$STATE/daemon.log\\" >&2" ERR
                leave_others
                mount -t tmpfs -o mode=755 none /usr/local/lib
                mkdir -p /usr/local/lib/replica/stores storage
                install -m 755 "$BIN/replica-store-rclone" /usr/local/lib/replica/stores/
                mount --bind "\(rclone)" /usr/bin/rclone
                export RCLONE_CONFIG=$HERE/rclone.conf
                touch rclone.conf
                rclone config create store crypt remote="$HERE/storage" password=secret-word --obscure >/dev/null
                . "$HERE/script"'
        }
        says() { replica status d | grep -qF -- "$1"; }
        is_theirs() { [ "$(rclone cat "store:folder/$1")" = "$2" ]; }

        """

    private static func run(_ script: String, location: SourceLocation = #_sourceLocation)
        async throws
    {
        try await Trial.run { trial in
            try await trial.shell(words + "with_rclone <<'END'\n\(script)\nEND", location: location)
        }
    }

    /// Also after rclone died.
    @Test func aDirectoryIsImportedAndSyncedBothWays() async throws {
        try await Self.run(
            """
            rclone mkdir store:folder
            mkdir "$SRC/folder"
            echo old >"$SRC/folder/old"
            echo text >"$SRC/file"
            touch -d '2020-02-03 04:05:06.789 UTC' "$SRC/file"
            head -c 6000000 /dev/urandom >"$SRC/large"
            replica import d "$SRC" --store rclone:store:folder >/dev/null 2>said
            grep -q 'note: this store has no atomic preconditions' said
            mount_it
            settle
            equal "$(rclone lsf -R store:folder | sort | tr '\\n' ' ')" 'file folder/ folder/old large '
            rclone check --download "$MNT" store:folder
            equal "$(rclone lsl store:folder/file | awk '{ print $2, $3 }')" '2020-02-03 04:05:06.789000000'
            echo more >>"$MNT/file"
            mv "$MNT/folder" "$MNT/moved"
            mkdir "$MNT/made"
            settle
            is_theirs file "$(printf 'text\\nmore')"
            # rclone leaves modes to the umask.
            prints "" find storage -perm /022
            is_theirs moved/old old
            # What others do comes here.
            echo theirs >theirs
            rclone copyto theirs store:folder/moved/theirs
            rclone deletefile store:folder/moved/old
            in_time content_is "$MNT/moved/theirs" theirs
            in_time not test -e "$MNT/moved/old"
            # rclone is not needed to be alive, but for a while.
            pid=$(pgrep -P "$(pgrep -P "$(daemon)")")
            finds_no -q secret-word "/proc/$pid/cmdline" "/proc/$pid/environ"
            kill -KILL "$pid"
            echo again >"$MNT/again"
            settle
            is_theirs again again
            pid=$(pgrep -P "$(pgrep -P "$(daemon)")")
            umount "$MNT"
            end_daemon
            gone "$pid"
            """)
    }

    /// It ends with the store's program even if that is killed.
    @Test func noProcessOutlivesAKilledDaemon() async throws {
        try await Self.run(
            """
            rclone mkdir store:folder
            replica add d --store rclone:store:folder >/dev/null 2>&1
            mount_it
            ls "$MNT" >/dev/null
            in_time pgrep -P "$(pgrep -P "$(daemon)")" >/dev/null
            pid=$(pgrep -P "$(pgrep -P "$(daemon)")")
            kill -KILL "$(daemon)"
            gone "$pid"
            umount -l "$MNT"
            """)
    }

    @Test func failuresAreReported() async throws {
        try await Self.run(
            """
            refused 15 "rclone has no remote 'other'" replica add x --store rclone:other:
            refused 15 'there is no folder rclone:store:nowhere' replica add x --store rclone:store:nowhere
            refused 15 'contains a secret' replica add x --store rclone::s3,secret_access_key=x:bucket
            umount /usr/bin/rclone
            refused 15 'rclone is too old' replica add x --store rclone:store:
            """)
    }

    @Test func theProbeReportsWeakPreconditions() async throws {
        try await Self.run(
            """
            rclone mkdir store:folder
            timeout 200 "$BIN/replica" probe rclone:store:folder >table || { cat table; exit 1; }
            grep -qE '^new files +weak +checked right before' table || { cat table; exit 1; }
            grep -qE '^names +weak +up to 143 bytes' table
            grep -qE '^times +kept +kept to the nanosecond' table
            timeout 200 "$BIN/replica" probe rclone:store:folder --json | jq -es 'length == 15 and all(.verdict != "broken")' >/dev/null
            prints "" rclone lsf -R store:folder
            """)
    }

    @Test func testStoreChecksAllPromises() async throws {
        try await Self.run(
            """
            rclone mkdir store:folder
            timeout 200 "$BIN/replica" test-store rclone:store:folder --only creat >table || { cat table; exit 1; }
            tail -n 1 table | grep -qE '^[1-9][0-9]* kept, [0-9]+ skipped, 0 broken$' || { cat table; exit 1; }
            prints "" rclone lsf -R store:folder
            """)
    }
}
