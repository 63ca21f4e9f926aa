import Testing

/// Programs that read every file they see do not cause downloads.
@Suite struct ScannerTests {
    @Test func thumbnailersAndIndexersDownloadNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                state() { getfattr -n user.replica.state --only-values "$1" 2>/dev/null; }
                mkdir "$SRC/d"; echo text >"$SRC/d/f"
                # A picture of one pixel.
                base64 -d >"$SRC/p.png" <<END
                iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
                END
                begin; settle; replica evict "$MNT" >/dev/null; replica forget "$MNT/d" >/dev/null
                equal "$(state "$MNT/p.png")" dataless; equal "$(state "$MNT/d")" dataless
                not gdk-pixbuf-thumbnailer -s 64 "$MNT/p.png" small.png 2>/dev/null
                updatedb --require-visibility no --prunefs "" --prunepaths "" --prune-bind-mounts no \\
                    --database-root "$MNT" --output names.db
                # Whatever it is called, and by whom.
                cp "$(command -v cat)" baloo_file_extractor
                not ./baloo_file_extractor "$MNT/p.png" >/dev/null 2>&1
                equal "$(state "$MNT/p.png")" dataless; equal "$(state "$MNT/d")" dataless
                cat "$MNT/p.png" >/dev/null; gdk-pixbuf-thumbnailer -s 64 "$MNT/p.png" small.png; test -s small.png
                # A list of one's own takes the place of ours.
                unmount_it; replica mount d "$MNT" -o nohydrate=cat >/dev/null
                replica evict "$MNT/p.png" >/dev/null
                not cat "$MNT/p.png" 2>/dev/null; ./baloo_file_extractor "$MNT/p.png" >/dev/null
                unmount_it; replica mount d "$MNT" -o nohydrate= >/dev/null
                replica evict "$MNT/p.png" >/dev/null; cat "$MNT/p.png" >/dev/null
                """)
        }
    }
}
