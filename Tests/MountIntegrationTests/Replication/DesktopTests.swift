import Testing

/// A file manager under a virtual display, with a real thumbnailer: looking at a folder downloads nothing.
@Suite struct DesktopTests {
    @Test func lookingAtAFolderDownloadsNoPictures() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    # The one that is not here comes first.
                    picture >"$SRC/a.png"; picture >"$SRC/z.png"
                    begin; settle; replica evict "$MNT/a.png" >/dev/null
                    look thumbnail z.png
                    equal "$(state "$MNT/a.png")" dataless
                    not thumbnail a.png
                    cmp "$MNT/a.png" "$STORE/a.png"
                    look thumbnail a.png

                    # Without the list of scanners, the same look downloads it.
                    unmount_it; replica mount d "$MNT" -o nohydrate= >/dev/null
                    replica evict "$MNT/a.png" >/dev/null
                    look thumbnail a.png
                    equal "$(state "$MNT/a.png")" materialized
                    """#)
        }
    }

    private let words = #"""
        state() { getfattr -n user.replica.state --only-values "$1" 2>/dev/null; }
        # A red picture of 300 by 300, in PNG.
        picture() {
            python3 -c '
        import struct, sys, zlib
        def chunk(name, data):
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        rows = (b"\0" + b"\xff\0\0" * 300) * 300
        sys.stdout.buffer.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 300, 300, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))'
        }
        # The name of a thumbnail is the digest of the address.
        thumbnail() { test -s "$HERE/cache/thumbnails/normal/$(printf 'file://%s' "$MNT/$1" | md5sum | cut -d ' ' -f 1).png"; }
        export XDG_RUNTIME_DIR=$HERE/run XDG_CACHE_HOME=$HERE/cache XDG_CONFIG_HOME=$HERE/config GVFS_DISABLE_FUSE=1
        mkdir -p -m 700 "$HERE/run"
        # look COMMAND...: the mount is open in a file manager until the command succeeds. All of it ends with the namespace.
        look() {
            rm -rf "$HERE/cache" "$HERE/display"
            declare -f >"$HERE/words"
            unshare --mount --pid --fork --kill-child --mount-proc bash -ec '
                . "$HERE/words"; leave_others
                Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp 3>"$HERE/display" >"$HERE/xvfb.log" 2>&1 &
                eventually test -s "$HERE/display"
                export DISPLAY=:$(cat "$HERE/display")
                dbus-run-session -- bash -ec ". \"$HERE/words\"; thunar \"$MNT\" & eventually \"\$@\"" bash "$@" >"$HERE/desktop.log" 2>&1
            ' bash "$@"
        }

        """#
}
