import Testing

/// Somebody who is not root mounts a domain of their own.
@Suite struct UserTests {
    @Test func anUnprivilegedUserMountsAndWorks() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                id replicatest >/dev/null 2>&1 || useradd --system --no-create-home --shell /bin/sh replicatest
                chown replicatest "$HERE"; chown -R replicatest "$SRC" "$STORE" "$MNT" "$HERE/data"
                declare -f >words
                cat >inside <<'END'
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
                # /dev may have the device for root only.
                unshare -m bash -c '
                    set -e
                    mount -t tmpfs -o mode=755,dev none "$HERE/mnt"
                    mknod -m 666 "$HERE/mnt/fuse" c 10 229
                    mount --bind "$HERE/mnt/fuse" /dev/fuse
                    umount -l "$HERE/mnt"
                    exec setpriv --reuid=replicatest --regid="$(id -g replicatest)" --clear-groups bash -c "
                        set -Eeuo pipefail; trap \"echo failed at \\\$LINENO: \\\$BASH_COMMAND >&2\" ERR
                        . \"\$HERE/words\"; . \"\$HERE/inside\""'
                """#)
        }
    }
}
