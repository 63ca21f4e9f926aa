import Testing

/// The trash, used with GLib's `gio` like file managers do. A directory store has no trash: `.Trash-UID` is an ordinary
/// folder there (docs/decisions/trash.md).
@Suite struct MountedTrashTests {
    @Test func gioTrashesRestoresAndEmpties() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    begin
                    alone() {
                        unshare --mount --pid --fork --kill-child --mount-proc bash -ec 'leave_others; exec "$@"' bash "$@"
                    }
                    use_the_trash
                    """#)
        }
    }

    @Test func anUnprivilegedUserHasATrash() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    as_replicatest <<'END'
                    alone() { "$@"; }
                    begin; use_the_trash; fusermount3 -u "$MNT"; end_daemon
                    END
                    """#)
        }
    }

    /// `gio` needs GVfs to list the trash; `alone` ends all its processes with the session.
    private let words = #"""
        export GVFS_DISABLE_FUSE=1 XDG_RUNTIME_DIR=$HERE/run
        mkdir -p -m 700 "$HERE/run"
        session() {
            declare -f >"$HERE/words"
            XDG_DATA_HOME=$HERE/share alone dbus-run-session -- bash -e -c '. "$HERE/words"'"; $1"
        }
        trashed() { session 'gio trash --list' | grep -q "$MNT/$1\$"; }
        # The address of what was trashed under a name.
        address() { gio trash --list | sed -n "s,\t.*/$1\$,,p" | grep .; }
        restore() { session "eventually address $1; gio trash --restore \"\$(address $1)\""; }
        is_empty() { prints "" ls -A "$1" 2>/dev/null; }
        use_the_trash() {
            local home number inode
            home=.Trash-$(id -u)
            mkdir -p "$MNT/d/e"; echo one >"$MNT/d/x"; echo two >"$MNT/d/e/y"
            settle; same
            number=$(stat -c %i "$MNT/d/x"); inode=$(stat -c %i "$STORE/d/x")

            session 'gio trash "$MNT/d/x" "$MNT/d/e"'
            not test -e "$MNT/d/x"; not test -e "$MNT/d/e"
            grep -qx "Path=d/x" "$MNT/$home/info/x.trashinfo"
            settle; same
            equal "$(stat -c %i "$STORE/$home/files/x")" "$inode"
            eventually trashed d/x; eventually trashed d/e

            restore x
            content_is "$MNT/d/x" one
            not test -e "$MNT/$home/files/x"; not test -e "$MNT/$home/info/x.trashinfo"
            settle; same
            equal "$(stat -c %i "$MNT/d/x")" "$number"
            equal "$(stat -c %i "$STORE/d/x")" "$inode"

            # GVfs moves what it deletes to a folder of its own first.
            session "gio trash --empty; cd '$MNT/$home'; eventually is_empty files; eventually is_empty expunged"
            settle; same
            content_is "$STORE/d/x" one
            not test -e "$STORE/d/e"
        }

        """#
}
