import Testing

/// Accidental losses of a store are not replicated.
@Suite struct LostStoreTests {
    private static let words = """
        is_held() { case $(replica status d --json) in *'"state":"held"'*) ;; *) return 1 ;; esac; }
        is_idle() { case $(replica status d --json) in *'"state":"idle"'*) ;; *) return 1 ;; esac; }
        # The number grows while the deletions in the store are still being noticed.
        says() { replica status d | grep -qF -- "$1"; }
        all_is_here() { eventually is_held; diff -r --no-dereference before "$MNT"; }
        fill() { mkdir -p "$SRC/many/deep"; for n in $(seq "$1"); do echo "text $n" >"$SRC/many/deep/f$n"; done; }
        start() { cp -a "$SRC" before; begin; settle; }

        """

    /// Each of them is reported separately, over some seconds.
    @Test func deletionsOneByOneAreHeld() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 1000; echo other >"$SRC/other"
                    start
                    refused 9 "no deletion is held" replica approve d
                    refused 9 "no deletion is held" replica restore d
                    find "$STORE/many" -type f -exec rm {} \\;
                    all_is_here
                    said=$(replica status d)
                    case $said in *"replica approve"*"replica restore"*) ;; *) fail "$said" ;; esac
                    eventually says "the store deleted 1000 items"
                    replica restore d >said; has said "1000 items uploaded again"
                    settle; same; diff -r --no-dereference before "$MNT"; eventually is_idle
                    refused 9 "no deletion is held" replica restore d
                    """)
        }
    }

    @Test func aMassDeletionIsHeld() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 1000; echo other >"$SRC/other"
                    start
                    rm -r "$STORE/many"
                    all_is_here
                    # Nor after a kill, nor after an orderly stop.
                    kill_daemon; mount_it; all_is_here
                    unmount_it; mount_it; all_is_here
                    replica approve d
                    settle; same; equal "$(ls "$MNT")" other; eventually is_idle
                    not ls "$STATE"/kept/*; not ls "$STATE"/deleted/*
                    refused 9 "no deletion is held" replica approve d
                    """)
        }
    }

    /// So slowly that the first are gone here before the last are deleted there.
    @Test func slowDeletionsAreHeld() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 319; chmod 640 "$SRC/many/deep/f7"; ln -s nowhere "$SRC/many/deep/link"
                    touch -d 2001-02-03 "$SRC/many/deep/f8"
                    start
                    number=$(stat -c %i "$MNT/many/deep/f9"); exec 4<"$MNT/many/deep/f11"
                    gone_or_held() { not test -e "$MNT/many/deep/f$1" || is_held; }
                    for start in 1 61 121 181 241; do
                        for n in $(seq $start $((start + 59))); do rm "$STORE/many/deep/f$n"; done
                        eventually gone_or_held $((start + 59))
                    done
                    all_is_here
                    equal "$(stat -c %a "$MNT/many/deep/f7")" 640
                    time=$(stat -c %Y before/many/deep/f8); prints "$time" stat -c %Y "$MNT/many/deep/f8"
                    equal "$(stat -c %i "$MNT/many/deep/f9")" $number
                    equal "$(cat <&4)" "text 11"
                    replica restore d
                    settle; same; diff -r --no-dereference before "$MNT"; eventually is_idle
                    """)
        }
    }

    /// Replacements are not deletions, in any number.
    @Test func replacedFilesAreNotHeldBack() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                Self.words + """
                    fill 200
                    start
                    for n in $(seq 200); do
                        echo "newer $n" >"$STORE/many/deep/beside$n"; mv "$STORE/many/deep/beside$n" "$STORE/many/deep/f$n"
                    done
                    settle; same; eventually is_idle
                    for n in $(seq 200); do rm "$STORE/many/deep/f$n"; echo "newest $n" >"$STORE/many/deep/f$n"; done
                    settle; same; eventually is_idle
                    """)
        }
    }
}
