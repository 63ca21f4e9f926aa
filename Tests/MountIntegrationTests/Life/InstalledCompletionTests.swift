import Testing

/// What shells complete of paths in a mount, with the scripts where `scripts/install` puts them and each shell looks.
@Suite struct InstalledCompletionTests {
    /// How each is started, and what its user has for completions anyway: bash's package is not a part of the tests.
    private static let shells: [String: (start: String, setup: String)] = [
        "bash": ("bash --norc --noprofile -i", ". /usr/local/share/bash-completion/completions/replica"),
        "zsh": ("zsh -f -i", "autoload -U compinit; compinit -u -D"),
        "fish": ("fish --interactive", "true"),
    ]

    @Test(arguments: ["bash", "zsh", "fish"]) func pathsInAMountAreCompleted(shell: String) async throws {
        let (start, setup) = try #require(Self.shells[shell])
        try await Trial.run { trial in
            try await trial.shell(
                "ROOT='\(repository)' START='\(start)' SETUP='\(setup)'\n" + #"""
                    begin
                    mkdir -p "$MNT/albums/2026"; echo one >"$MNT/albums/2026/phrases.txt"; echo x >"$MNT/albums/other.txt"
                    echo x >"$MNT/albums/with space.txt"; echo x >"$MNT/albums/notes (conflict copy).txt"; echo x >"$MNT/albums/it's \"\$HOME\".txt"
                    settle
                    replica evict d: >/dev/null
                    equal "$(stat -c %b "$TREE/albums/2026/phrases.txt")" 0
                    { declare -f; declare -p ROOT START SETUP; cat; } >script <<'END'
                    leave_others
                    mkdir over; mount -t tmpfs -o mode=755 none over; mkdir over/upper over/work
                    mount -t overlay -o "lowerdir=/usr,upperdir=$HERE/over/upper,workdir=$HERE/over/work" none /usr
                    rm -f /usr/sbin/mount.replica /usr/sbin/mount.fuse.replica
                    mount -t tmpfs none /etc/fish; mkdir /etc/fish/completions
                    "$ROOT/scripts/install" --from "$BIN" >said
                    unset -f replica
                    cd "$MNT"
                    # A subcommand shows that it is our script: shells complete paths anyway.
                    env -u XDG_DATA_DIRS HOME="$HERE" PATH=/usr/local/bin:/usr/bin:/bin TERM=dumb /usr/bin/python3 "$ROOT/Tests/CommandTests/Support/press-tab.py" \
                        "$SETUP" unp unpin "pin albu" albums/ "status albums/2026/phr" albums/2026/phrases.txt "status $MNT/albums/oth" other.txt \
                        "pin $MNT/albums/20" albums/2026/ "status albums/oth" albums/other.txt \
                        "status albums/wi" "=albums/with space.txt" "evict albums/not" "=albums/notes (conflict copy).txt" \
                        "download albums/it" "=albums/it's \"\$HOME\".txt" "pin ~/${MNT#"$HERE/"}/albums/wi" "=$MNT/albums/with space.txt" \
                        "pin \$HOME/${MNT#"$HERE/"}/albums/notes\\ \\(co" "=$MNT/albums/notes (conflict copy).txt" -- $START
                    END
                    unshare -m --propagation private bash -c '
                        set -Eeuo pipefail; trap "echo failed at \$LINENO: \$BASH_COMMAND >&2" ERR; . "$HERE/script"'
                    # Nothing is downloaded for it.
                    equal "$(stat -c %b "$TREE/albums/2026/phrases.txt")" 0
                    """#)
        }
    }
}
