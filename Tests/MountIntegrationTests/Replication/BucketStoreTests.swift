import Foundation
import Testing

/// Domains in buckets of a real S3 server, served by the store's program, which is installed where root's daemons
/// search, in a mount namespace.
@Suite struct BucketStoreTests {
    private static let server = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "S3StoreTests/s3-server").path

    /// Runs the script from standard input; `$url` is a bucket, `$home` the user's home, and `rclone … r:bucket`
    /// another client of it.
    static let words =
        PrivateNamespace.words(
            hidesHome: true,
            preparation: PrivateNamespace.installing("replica-store-s3")
                + "\nmkdir \"$home/.aws\"; export HOME=$home; unset ${!AWS_@}")
            + """
            make_bucket() {
                mkfifo server-input
                "\(server)" "$HERE/server" <server-input >server-output &
                exec 9>server-input
                in_time grep -q READY server-output
                endpoint=$(sed -n 's/^S3_ENDPOINT=//p' server-output)
                url="s3://bucket/some/folder?endpoint=$endpoint"
                key=testaccesskey0000001
                secret=testsecretkeytestsecretkeytestsecretkey1
                printf '[default]\\naws_access_key_id = %s\\naws_secret_access_key = %s\\n' "$key" "$secret" >"$home/.aws/credentials"
                export RCLONE_CONFIG_R_TYPE=s3 RCLONE_CONFIG_R_PROVIDER=Ceph RCLONE_CONFIG_R_ENDPOINT=$endpoint
                export RCLONE_CONFIG_R_ACCESS_KEY_ID=$key RCLONE_CONFIG_R_SECRET_ACCESS_KEY=$secret RCLONE_CONFIG=/dev/null
                rclone mkdir r:bucket
            }
            theirs() { rclone cat "r:bucket/some/folder/$1"; }
            # All but the one object that is there for minutes after a change (docs/stores/s3.md).
            listing() { rclone lsf -R --exclude /.replica/changes "$@" r:bucket/some/folder | grep -vxF .replica/ | sort | tr '\\n' ' '; }

            """

    private static func run(_ script: String, location: SourceLocation = #_sourceLocation) async throws {
        try await Trial.run { trial in
            try await trial.shell(words + "in_namespace <<'END'\nmake_bucket\n\(script)\nEND", location: location)
        }
    }

    /// Also during a hang of the server, and afterwards.
    @Test func aDirectoryIsImportedAndSyncedBothWays() async throws {
        try await Self.run(
            """
            mkdir "$SRC/folder"
            echo old >"$SRC/folder/old"
            echo text >"$SRC/file"
            chmod 640 "$SRC/file"
            touch -d '2020-02-03 04:05:06.789 UTC' "$SRC/file"
            ln -s folder/old "$SRC/link"
            head -c 3000000 /dev/urandom >"$SRC/large"
            replica import d "$SRC" --store "$url" >/dev/null
            mount_it
            settle
            equal "$(listing)" 'file folder/ folder/old large link '
            rclone check --download "$MNT/folder" r:bucket/some/folder/folder
            theirs large >large
            cmp large "$MNT/large"
            # What others know of times is the time.
            equal "$(rclone lsl r:bucket/some/folder/file | awk '{ print $2, $3 }')" '2020-02-03 04:05:06.789000000'
            equal "$(theirs link)" folder/old
            echo more >>"$MNT/file"
            mv "$MNT/folder" "$MNT/moved"
            rm "$MNT/link"
            mkdir "$MNT/made"
            settle
            equal "$(theirs file | tr '\\n' ' ')" 'text more '
            echo theirs >theirs.txt
            rclone copyto theirs.txt r:bucket/some/folder/moved/theirs
            rclone deletefile r:bucket/some/folder/moved/old
            in_time content_is "$MNT/moved/theirs" theirs
            in_time not test -e "$MNT/moved/old"
            equal "$(listing)" 'file large moved/ moved/theirs '
            # On another machine it is as it was made.
            replica add other --store "$url" >/dev/null
            mkdir other
            replica mount other other >/dev/null
            in_time content_is other/moved/theirs theirs
            equal "$(stat -c %a other/file)" 640
            test -d other/made
            diff -r "$MNT" other
            replica unmount other --flush
            # What is written while the server hangs is sent when it goes on.
            gateway=$(pgrep -x radosgw)
            kill -STOP "$gateway"
            echo offline >"$MNT/offline"
            kill -CONT "$gateway"
            settle
            equal "$(theirs offline)" offline
            # No secret is where others see it.
            pid=$(pgrep -P "$(daemon)")
            finds_no -q "$secret" "/proc/$pid/cmdline" "/proc/$pid/environ"
            finds_no -q "$secret" "/proc/$(daemon)/cmdline" /proc/mounts
            replica status d >said
            finds_no -q "$secret" said
            # Nor does a crash leave them on a disk.
            grep -q '^Max core file size  *1  *1 ' "/proc/$pid/limits"
            # Files there come and go meanwhile.
            test -s "$STATE/domain.json"; if grep -rqF "$secret" "$STATE"; then fail "the secret is in the state"; fi
            umount "$MNT"
            end_daemon
            gone "$pid"
            # Now nothing of ours is there.
            equal "$(rclone lsf -R --files-only r:bucket/some/folder | sort | tr '\\n' ' ')" 'file large moved/theirs offline '
            """)
    }

    /// What one replica has changed is signalled to the daemons of the others. How long it takes is measured, not tested (docs/stores/s3.md).
    @Test func replicasHearOfChanges() async throws {
        try await Self.run(
            """
            replica add d --store "$url" >/dev/null; mount_it; mkdir "$MNT/folder"; settle
            replica add other --store "$url" >/dev/null
            mkdir other; replica mount other other >/dev/null
            in_time test -d other/folder
            # What a program sees that is asked by a daemon.
            mkfifo lines-in; mkdir spool kept
            /usr/local/lib/replica/stores/replica-store-s3 <lines-in >lines & program=$!
            exec 8>lines-in
            printf '{"replica":1,"protocol":[1],"url":"%s","spool":"%s","state":"%s","options":{},"secrets":{}}\\n' \
                "$url" "$PWD/spool" "$PWD/kept" >&8
            in_time grep -q '"signals":true' lines
            for number in 1 2; do
                echo "$number" >"$MNT/folder/file-$number"
                in_time content_is "other/folder/file-$number" "$number"
            done
            in_time grep -q '{"signal":{"path":"[^"]*folder"}}' lines
            exec 8>&-; wait "$program"
            replica unmount other --flush; unmount_it
            equal "$(rclone lsf -R --files-only r:bucket)" "$(printf 'some/folder/folder/file-%s\\n' 1 2)"
            """)
    }

    /// By the store's program, which is a process of its own, to the user and to the log.
    @Test func objectsThatAreLeftOutAreReported() async throws {
        try await Self.run(
            """
            long=$(printf 'x%.0s' {1..256})
            for key in good "folder/$long" folder/good; do echo "$key" | rclone rcat "r:bucket/some/folder/$key"; done
            replica add d --store "$url" >/dev/null; mount_it
            equal "$(ls "$MNT" "$MNT/folder" | wc -w)" 5
            status_has() { replica status d >said; grep -q "$1" said; }
            in_time status_has '1 item of the store is left out: folder/xxx'
            grep -q '^  errors  *1 item$' said
            replica status d --json >said; grep -q '"errors" *: *1' said
            code=0; replica status d --check >said || code=$?; equal "$code" 8
            for number in 1 2 3; do replica retry d; replica wait d; done
            equal "$(grep -c 'left out' "$STATE/daemon.log")" 1
            # It comes back, with what is in it.
            rm -r "$MNT/folder"
            in_time test -d "$MNT/folder"
            theirs "folder/$long" >/dev/null
            rclone moveto "r:bucket/some/folder/folder/$long" r:bucket/some/folder/folder/short
            replica retry d
            in_time test -e "$MNT/folder/short"
            in_time not status_has 'left out'
            """)
    }

    @Test func failuresAreReported() async throws {
        try await Self.run(
            """
            refused 15 "the bucket nosuch does not exist there" replica add x --store "s3://nosuch?endpoint=$endpoint"
            refused 15 "the URL has no valid bucket" replica add x --store "s3:///folder"
            refused 15 "unknown option" replica add x --store "s3://bucket?endpont=$endpoint"
            refused 15 "Failed to connect to 127.0.0.1" replica add x --store "s3://bucket?endpoint=http://127.0.0.1:1"
            mv "$home/.aws/credentials" keys
            refused 15 "there are no keys: run replica login, or give a file with access_key= and secret_key=" replica add x --store "$url"
            # From a file, and from the environment, in which the store's own has none.
            printf 'access_key=%s\\nsecret_key=%s\\n' "$key" wrong >wrong
            printf 'access_key=%s\\nsecret_key=%s\\n' "$key" "$secret" >right
            chmod 600 wrong right
            refused 15 "the server rejects this secret key" \
                replica add x --store "$url" --credentials wrong
            refused 15 "the server does not know this access key" \
                env AWS_ACCESS_KEY_ID=none AWS_SECRET_ACCESS_KEY=none "$BIN/replica" add x --store "$url"
            replica add e --store "$url" --credentials right >/dev/null
            AWS_ACCESS_KEY_ID=$key AWS_SECRET_ACCESS_KEY=$secret replica add f --store "$url" >/dev/null
            # A domain whose keys are not taken any more mounts, and says so; with others it goes on.
            cp keys "$home/.aws/credentials"
            # There before the domain: its daemon lists the folder at once.
            echo before >before
            rclone copyto before r:bucket/some/folder/before
            replica add d --store "$url" >/dev/null
            mount_it
            cat "$MNT/before" >found || { replica status d; fail "not read"; }
            content_is found before
            umount "$MNT"
            end_daemon
            sed -i 's/_secret_access_key.*/_secret_access_key = wrong/' "$home/.aws/credentials"
            mount_it
            echo text >"$MNT/file"
            in_time says 'the server rejects this secret key'
            cp keys "$home/.aws/credentials"
            in_time settle
            equal "$(theirs file)" text
            """)
    }

    @Test func theProbeShowsTheFeatures() async throws {
        try await Self.run(
            """
            timeout 200 "$BIN/replica" probe "$url" >table || { cat table; exit 1; }
            grep -qE '^new files +kept +of two concurrent changes one wins' table || { cat table; exit 1; }
            grep -qE '^replacing +kept +of two concurrent changes one wins' table || { cat table; exit 1; }
            grep -qE '^modes +kept ' table
            prints "" rclone lsf -R r:bucket/some
            """)
    }
}
