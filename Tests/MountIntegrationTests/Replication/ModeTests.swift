import Testing

/// Files are not more accessible in a store than in the imported directory.
@Suite struct ModeTests {
    @Test func aCreatedStoreIsNotMoreAccessibleThanTheImportedDirectory() async throws {
        for mode in ["700", "755", "500"] {
            try await Trial.run { trial in
                try await trial.shell(
                    """
                    umask 0
                    rmdir "$STORE"
                    mkdir -m 700 "$SRC/own"; mkdir -m 750 "$SRC/group"; mkdir -m 777 "$SRC/all"
                    echo own >"$SRC/own/file"; chmod 600 "$SRC/own/file"; echo group >"$SRC/group/file"
                    chmod \(mode) "$SRC"
                    replica import d "$SRC" --store "file://$STORE" --create >said 2>&1
                    finds_no -q note said
                    mount_it; mkdir -m 711 "$MNT/late"; echo late >"$MNT/late/file"; settle
                    equal "$(stat -c %a "$STORE")" 700
                    modes() { (cd "$1" && find . -mindepth 1 -printf '%m %p\n' | sort); }
                    here=$(modes "$MNT"); prints "$here" modes "$STORE"
                    equal "$(stat -c %a "$STORE/group" "$STORE/own/file" "$STORE/late" | tr '\n' ' ')" "750 600 711 "
                    """)
            }
        }
    }

    @Test func aStoreAccessibleToOthersIsReportedAndUnchanged() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                note="mount.replica: note: everybody may access the store $STORE, but not $SRC: imported files can be read"
                chmod 700 "$SRC"; echo text >"$SRC/file"
                replica import d "$SRC" --store "file://$STORE" 2>said >/dev/null
                equal "$(cat said)" "$note there as far as their modes allow"
                equal "$(stat -c %a "$STORE")" 755
                mount_it; settle; same
                # As wide as what is imported, or on a way that is closed, it is nothing to speak of.
                mkdir other closed closed/store; chmod 700 closed
                replica import e other --store "file://$STORE" 2>said >/dev/null; prints "" cat said
                mkdir -m 700 more
                replica import f more --store "file://$HERE/closed/store" 2>said >/dev/null; prints "" cat said
                # Where it fails it says why and nothing else.
                mkdir -m 700 last
                refused 4 "there is a domain" replica import f last --store "file://$STORE"
                for name in e f; do replica unmount $name; done
                """)
        }
    }

    @Test func theMaskOfAnACLIsNotTheModeOfTheGroup() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                echo one >"$SRC/one"; chmod 640 "$SRC/one"; setfacl -m user:nobody:rwx "$SRC/one"
                equal "$(stat -c %a "$SRC/one")" 670
                begin; settle
                equal "$(stat -c %a "$STORE/one")" 640
                # On the mount too.
                echo two >"$MNT/two"; chmod 640 "$MNT/two"; mkdir -m 750 "$MNT/d"
                setfacl -m user:nobody:rwx "$MNT/two" "$MNT/d"; settle
                equal "$(stat -c %a "$STORE/two" "$STORE/d" | tr '\n' ' ')" "640 750 "
                entries() { getfacl -cpE "$1" | grep . | tr '\n' ' '; }
                # What comes from the store is the group's, and the list stays.
                chmod 604 "$STORE/two"
                comes() { [ "$(entries "$MNT/two")" = "$1" ]; }
                eventually comes "user::rw- user:nobody:rwx group::--- mask::rwx other::r-- "
                chmod 660 "$STORE/two"
                eventually comes "user::rw- user:nobody:rwx group::rw- mask::rwx other::--- "
                # chmod is chmod: it sets the mask, which is the most that the group has.
                chmod 640 "$MNT/two"; settle
                equal "$(entries "$MNT/two")" "user::rw- user:nobody:rwx group::rw- mask::r-- other::--- "
                equal "$(stat -c %a "$STORE/two")" 640
                # A list in the store is read and kept likewise.
                setfacl -m user:nobody:rwx,group::r-- "$STORE/one"; settle
                equal "$(stat -c %a "$STORE/one")" 670
                chmod 600 "$MNT/one"; setfacl -b "$MNT/one"; chmod 600 "$MNT/one"; settle
                equal "$(entries "$STORE/one")" "user::rw- user:nobody:rwx group::--- mask::rwx other::--- "
                """)
        }
    }
}
