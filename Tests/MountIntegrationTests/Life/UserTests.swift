import Testing

/// An unprivileged user mounts a domain.
@Suite struct UserTests {
    @Test func anUnprivilegedUserMountsAndWorks() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                as_replicatest <<'END'
                begin
                is_mounted
                cd "$MNT"; echo one >file; mkdir d; mv file d/file; echo two >>d/file; ln -s file d/link
                head -c 300000 /dev/urandom >big; cmp big <(cat big); truncate -s 100 big
                equal "$(stat -c %U d/file)" replicatest
                rm big; chmod 600 d/file
                cd "$HERE"; settle; same
                echo store >"$STORE/new"; eventually content_is "$MNT/new" store
                fusermount3 -u "$MNT"
                not is_mounted
                mount_it; content_is "$MNT/d/file" "$(printf 'one\ntwo')"
                kill_daemon; mount_it; content_is "$MNT/d/file" "$(printf 'one\ntwo')"
                replica unmount d; end_daemon
                END
                """#)
        }
    }
}
