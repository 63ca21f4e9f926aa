import Testing

/// What ``ServerTroubleTests`` does to servers, done to a real S3 server with a mounted bucket: it dies while files are sent and read, it
/// loses its name, it revokes the keys and gives them again, and it has no space.
@Suite struct BucketTroubleTests {
    private static let words =
        BucketStoreTests.words + ServerTroubleTests.words + ServerTroubleTests.work + """
            # The gateway takes a longer name than this for a bucket's.
            begin_bucket() {
                make_bucket
                export RCLONE_S3_DIRECTORY_MARKERS=true RCLONE_CREATE_EMPTY_SRC_DIRS=true CEPH_CONF=$HERE/server/ceph.conf
                printf '127.0.0.1 s3 localhost\\n' >hosts
                mount --bind hosts /etc/hosts
                url="s3://bucket/some/folder?endpoint=http://s3:${endpoint##*:}"
                mkdir theirs
                for number in $(seq 9); do echo "cold $number" >"theirs/cold $number"; done
                for number in 1 2 3; do head -c 6000000 /dev/urandom >"theirs/large $number"; done
                echo text >theirs/file
                echo moving >theirs/moving
                rclone copy theirs r:bucket/some/folder
                replica add d --store "$url" >/dev/null
                mount_it
                cat "$MNT/file" "$MNT/moving" >/dev/null
            }
            # What replicas tell each other is there for some minutes (docs/stores/s3.md).
            theirs() { rclone copy --exclude /.replica/changes r:bucket/some/folder "$1"; rmdir "$1/.replica" 2>/dev/null || true; }
            admin() { timeout 60 radosgw-admin -n client.rgw "$@" >admin 2>&1 || fail "$(cat admin)"; }
            # Reads it, or says why not.
            reads() { cmp "$MNT/$1" "theirs/$1" >read 2>said || has said 'No route to host' || has said 'Input/output' || fail "$(cat said)"; }

            """

    @Test func outagesOfABucketsServerLoseNothing() async throws {
        let script = """
            # In the middle of what is sent and read: at first nothing of it is answered any more.
            for round in 1 2 3; do
                if [ "$round" = 1 ]; then kill -STOP "$(pgrep -x radosgw)"; fi
                head -c 12000000 /dev/urandom >"$MNT/sent $round"
                write_something "round $round"
                reads "large $round" & reader=$!
                sleep 0.$((round * 2))
                kill_server "$(pgrep -x radosgw)"
                wait "$reader"
                if [ "$round" = 2 ]; then
                    fails_in_time 'No route to host' "$MNT/cold 1"
                    in_time says 'Failed to connect to s3'
                fi
                start_server_again
            done
            for round in 1 2 3; do in_time cmp "$MNT/large $round" "theirs/large $round"; done
            for round in 1 2 3; do it_is_there "round $round"; done
            # What was compared is here.
            away() { replica evict "d:cold $1" >/dev/null; }
            away 2
            # Nobody knows where it is.
            printf '127.0.0.1 localhost\\n' >hosts
            # The store's program remembers an address for a while.
            kill -9 "$(pgrep -P "$(daemon)")"
            fails_in_time 'No route to host' "$MNT/cold 2"
            in_time says 'resolve'
            write_something oblivion
            printf '127.0.0.1 s3 localhost\\n' >hosts
            in_time content_is "$MNT/cold 2" 'cold 2'
            it_is_there oblivion
            # The keys are taken away, and given again.
            away 3
            admin key rm --uid=test --access-key="$key"
            write_something exile
            fails_in_time 'Permission denied' "$MNT/cold 3"
            in_time says 'the server does not know this access key'
            admin key create --uid=test --access-key="$key" --secret="$secret"
            in_time content_is "$MNT/cold 3" 'cold 3'
            it_is_there exile
            away 4
            admin user suspend --uid=test
            write_something suspense
            fails_in_time 'Permission denied' "$MNT/cold 4"
            in_time says 'the server has suspended this user'
            admin user enable --uid=test
            in_time content_is "$MNT/cold 4" 'cold 4'
            it_is_there suspense
            # No space is left for their user.
            admin quota set --quota-scope=user --uid=test --max-size=1
            admin quota enable --quota-scope=user --uid=test
            write_something scarcity
            in_time says 'the store is full'
            away 5
            content_is "$MNT/cold 5" 'cold 5'
            admin quota disable --quota-scope=user --uid=test
            it_is_there scarcity
            # Nothing is left of what was given up.
            prints '' rclone lsf -R --files-only --include '*replica-tmp*' r:bucket
            umount "$MNT"
            end_daemon
            """
        try await Trial.run { trial in
            try await trial.shell(Self.words + "in_namespace <<'END'\nbegin_bucket\n\(script)\nEND")
        }
    }
}
