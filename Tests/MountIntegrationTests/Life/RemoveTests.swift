import Testing

/// `replica remove`, of one domain and of all.
@Suite struct RemoveTests {
    /// Two domains, one mounted and one without a daemon, each with an unsent and a dataless file.
    private let twoDomains = #"""
        mkdir -p store2 mnt2 src2
        for n in "" 2; do
            echo cold >"store$n/cold"; echo base >"store$n/edited"; echo same >"store$n/same"
            replica add "d$n" --store "file://$HERE/store$n" >/dev/null
            replica mount "d$n" "$HERE/mnt$n" >/dev/null
            eventually content_is "mnt$n/edited" base; eventually content_is "mnt$n/same" same
            replica disconnect "d$n" --reason test >/dev/null
            echo unsent >"mnt$n/edited"; echo new >"mnt$n/new"
        done
        replica unmount d2 >/dev/null
        eventually flock -n "$HERE/data/replica/d2/lock" true
        # What is in the preserved folder of a domain.
        preserved() { (cd "$HERE/data/replica/$1 preserved "20*; find . -type f | sort | tr '\n' ' '); }
        all_gone() {
            prints "" replica list
            not is_mounted
            not test -e "$HERE/data/replica/d"; not test -e "$HERE/data/replica/d2"
            for n in "" 2; do
                content_is "store$n/cold" cold; content_is "store$n/edited" base; not test -e "store$n/new"
            done
        }
        cat_preserved() { cat "$HERE/data/replica/$1 preserved "20*/"$2"; }

        """#

    @Test func removingAllPreservesUnsentFiles() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                twoDomains + #"""
                    replica remove --all --yes >said
                    all_gone
                    for d in d d2; do
                        equal "$(preserved $d)" "./edited ./new "
                        equal "$(cat_preserved $d edited)" unsent
                        grep -q "^$d is removed; 2 files preserved in " said
                    done
                    """#)
        }
    }

    @Test func removingAllPreservesDownloadedFiles() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                twoDomains + #"""
                    replica remove --all --yes --keep downloaded >said
                    all_gone
                    for d in d d2; do
                        equal "$(preserved $d)" "./edited ./new ./same "
                        equal "$(cat_preserved $d same)" same
                    done
                    """#)
        }
    }

    @Test func removingAllCanPreserveNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                twoDomains + #"""
                    replica remove --all --yes --keep none >said
                    all_gone
                    prints "" ls "$HERE/data/replica"
                    equal "$(cat said)" "$(printf 'd is removed\nd2 is removed')"
                    """#)
        }
    }

    /// A domain that can't be removed does not block the others.
    @Test func removingAllKeepsDomainsInUse() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                twoDomains + #"""
                    exec 9<mnt/same
                    not replica remove --all --yes >said 2>errors
                    grep -q '^replica: d: ' errors
                    equal "$(wc -l <errors)" 1
                    is_mounted
                    content_is mnt/new new
                    not test -e "$HERE/data/replica/d2"
                    equal "$(preserved d2)" "./edited ./new "
                    exec 9<&-
                    replica remove --all --yes --keep none
                    all_gone
                    """#)
        }
    }

    /// Without a daemon the store is asked, too: what is in step with a store that is gone is nowhere else. An empty
    /// directory in its place is a disk that is not mounted.
    @Test(arguments: ["gone", "empty", "there"])
    func aStoreThatIsGoneIsNoticedWithoutADaemon(store: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                mkdir "$SRC/d"; echo one >"$SRC/d/one"; echo two >"$SRC/two"; begin; settle
                replica unmount d >/dev/null; eventually free_lock
                [ \#(store) = there ] || mv "$STORE" elsewhere
                [ \#(store) != empty ] || mkdir "$STORE"
                replica remove d >said
                not test -e "$STATE"
                kept=("$HERE/data/replica/d preserved "*)
                if [ \#(store) = there ]; then
                    not test -e "${kept[0]}"; content_is "$STORE/two" two
                else
                    content_is "${kept[0]}/d/one" one; content_is "${kept[0]}/two" two
                    content_is elsewhere/two two
                fi
                """#)
        }
    }
}
