import Glibc
import Testing

/// Root mounts below a folder of another user, who may put something else in the place of the folders there.
@Suite struct OthersFolderTests {
    private static let words = #"""
        chmod 755 "$HERE"
        mkdir -p theirs/media/Photos victim/Photos; ln -s "$HERE/victim" theirs/link
        chown -hR 65534:65534 theirs
        place=$HERE/theirs/media/Photos
        mounts_at() { awk -v at="$1" '$2 == at { print $3 }' /proc/self/mounts; }

        """#

    /// The command of a unit or of mount(8) names the directory itself.
    @Test func aLinkInThePathIsRefused() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    import_it
                    mount_replica d "$place"
                    prints fuse.replica mounts_at "$place"
                    replica unmount d
                    no_daemon
                    mv theirs/media theirs/away; mv theirs/link theirs/media
                    refused 32 "a symbolic link is on the way" mount_replica d "$place"
                    refused 32 "a symbolic link is on the way" mount_replica d "$place" -o foreground
                    refused 32 "a symbolic link is on the way" mount_replica d "$place" -o remount,ro
                    prints "" mounts_at "$HERE/victim/Photos"
                    """#)
        }
    }

    /// What a person types may contain links.
    @Test func aTypedLinkIsFollowedOnce() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                import_it
                mkdir real; ln -s real link; ln -s "$HERE" here
                for place in link here/link link/.; do
                    replica mount d "$place" >said
                    has said "$HERE/real"
                    content_is <(awk -v at="$HERE/real" '$2 == at { print $3 }' /proc/self/mounts) fuse.replica
                    replica unmount d
                    no_daemon
                done
                """#)
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func aMountIsThereOrNowhere() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + #"""
                    import_it
                    cat >attack.py <<'END'
                    import ctypes, os, time
                    libc, end = ctypes.CDLL(None), time.monotonic() + 60
                    while not os.path.exists("stop") and time.monotonic() < end:
                        libc.renameat2(-100, b"theirs/media", -100, b"theirs/link", 2)
                    END
                    setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 attack.py & attacker=$!
                    mounted=0
                    for n in $(seq 30); do
                        if mount_replica d "$place" 2>said; then
                            mounted=$((mounted + 1))
                            prints "" mounts_at "$HERE/victim/Photos"
                            eventually replica unmount d
                            no_daemon
                        fi
                    done
                    touch stop; wait $attacker
                    [ $mounted -gt 0 ] || fail "never mounted: $(cat said)"
                    prints "" mounts_at "$HERE/victim/Photos"
                    """#)
        }
    }
}
