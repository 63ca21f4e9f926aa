import Testing

/// If a domain can't be created, nothing is changed.
@Suite struct NewDomainPlaceTests {
    /// Everything below the trial except the programs' output.
    private let words = #"""
        look() { find "$HERE" -mindepth 1 -not -path "$HERE/output" -not -path "$HERE/said" -not -path "$HERE/data" \
            -printf '%i %y %m %s %T@ %p\n' | sort; }
        # unchanged CODE TEXT COMMAND...: refused, and all is as it was.
        unchanged() {
            local before
            before=$(look)
            refused "$@" || return 1
            equal "$(look)" "$before"
            prints "${LISTED-}" replica list
        }

        """#

    @Test func theStoreAndTheDirectoryMayNotContainEachOther() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    mkdir "$SRC/inside" "$SRC/sub" "$HERE/bound"; echo text >"$SRC/sub/file"
                    bad() { unchanged 15 "$1" replica import n "$SRC" --store "file://$2" --create; }
                    bad "in the directory to import" "$SRC/inside"
                    bad "in the directory to import" "$SRC/new"
                    bad "in the directory to import" "$SRC/sub/../sub/new"
                    bad "the directory to import" "$SRC"
                    bad "contains the directory to import" "$HERE"
                    ln -s "$SRC/sub" "$HERE/pointer"
                    bad "in the directory to import" "$HERE/pointer"
                    mount --bind "$SRC/sub" "$HERE/bound"
                    bad "in the directory to import" "$HERE/bound"
                    bad "in the directory to import" "$HERE/bound/new"
                    umount "$HERE/bound"
                    unchanged 32 "is moved by the import" mount_replica n "$SRC" -o "store=file://$STORE,import=$SRC"
                    content_is "$SRC/sub/file" text
                    begin; settle; same
                    """#)
        }
    }

    /// rename(2) reports EXDEV for it, even in its own folder.
    @Test func aFolderInALowerLayerIsNotTouched() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    mkdir -p "$HERE/lower/dir" "$HERE/top" "$HERE/over"
                    echo text >"$HERE/lower/dir/file"
                    mount -t tmpfs none "$HERE/top"; mkdir "$HERE/top/upper" "$HERE/top/work"
                    mount -t overlay none "$HERE/over" \
                        -o "lowerdir=$HERE/lower,upperdir=$HERE/top/upper,workdir=$HERE/top/work"
                    refused 11 "over/dir is in a lower layer of an overlay, where no folder can be moved: import a copy of it" \
                        replica import n "$HERE/over/dir" --store "file://$HERE/new" --create
                    content_is "$HERE/over/dir/file" text
                    [ ! -e "$HERE/new" ]
                    prints dir ls -A "$HERE/over"
                    prints "" replica list
                    umount "$HERE/over" "$HERE/top"
                    """#)
        }
    }

    @Test func theStoreMayNotBePartOfAnotherDomain() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    mkdir "$SRC/sub" "$HERE/other" "$HERE/mnt2"; echo text >"$SRC/sub/file"; echo more >"$HERE/other/file"
                    begin; settle
                    LISTED=$(replica list)
                    bad() {
                        unchanged 15 "$1" replica import n "$HERE/other" --store "file://$2" --create
                        unchanged 15 "$1" replica add n --store "file://$2" --create
                        unchanged 32 "$1" mount_replica "file://$2" "$HERE/mnt2" -o create
                    }
                    bad "in a domain" "$MNT"
                    bad "in a domain" "$MNT/sub"
                    bad "in a domain" "$MNT/new"
                    bad "the state of the domain d" "$TREE"
                    bad "the state of the domain d" "$STATE/new"
                    bad "the state of the domain d" "$HERE/data"
                    bad "the store of the domain d" "$STORE/sub"
                    # Another user's domain is not in our list.
                    bad_elsewhere() {
                        refused 15 "is in a domain" env XDG_DATA_HOME="$HERE/data2" "$BIN/replica" add n --store "file://$1"
                    }
                    bad_elsewhere "$MNT/sub"; bad_elsewhere "$TREE"; bad_elsewhere "$STATE"
                    unchanged 11 "the store of the domain d" replica import n "$STORE" --store "file://$HERE/new" --create
                    unchanged 11 "the store of the domain d" replica import n "$STORE/sub" --store "file://$HERE/new" --create
                    content_is "$HERE/other/file" more
                    """#)
        }
    }

    @Test func aMissingStoreIsCreatedOnlyOnRequest() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    echo text >"$SRC/file"; mkdir "$HERE/mnt2"
                    typo=file://$HERE/typo
                    unchanged 15 "--create (-o create) creates it" replica import n "$SRC" --store "$typo"
                    unchanged 15 "--create (-o create) creates it" replica add n --store "$typo"
                    unchanged 32 "--create (-o create) creates it" mount_replica "$typo" "$MNT"
                    unchanged 32 "--create (-o create) creates it" mount_replica n "$MNT" -o "store=$typo"
                    unchanged 15 "the directory above it does not exist" replica add n --store "$typo/deep" --create
                    unchanged 15 "not a directory" replica add n --store "file://$SRC/file" --create
                    content_is "$SRC/file" text
                    mount_replica "$typo" "$MNT" -o create
                    echo new >"$MNT/new"
                    replica wait typo
                    content_is "$HERE/typo/new" new
                    umount "$MNT"
                    replica import d "$SRC" --store "file://$HERE/typo2" --create
                    settle; content_is "$HERE/typo2/file" text
                    replica add e --store "file://$HERE/typo3" --create
                    # A store that was used and is gone is not made anew.
                    replica unmount d; no_daemon
                    mv "$HERE/typo2" "$HERE/away"
                    replica mount d "$MNT" -o create
                    not test -e "$HERE/typo2"
                    """#)
        }
    }

    @Test func aFailedMountRestoresTheDirectory() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                words + #"""
                    mkdir "$SRC/sub"; echo text >"$SRC/sub/file"; ln -s sub "$SRC/link"
                    setfattr -n user.mine -v x "$SRC"
                    # Without its device there is no mount.
                    without_fuse() {
                        unshare --mount bash -ec 'leave_others; mount --bind /dev/null /dev/fuse; exec "$@"' bash "$BIN/mount.replica" "$@"
                    }
                    unchanged 32 "" without_fuse n "$MNT" -o "store=file://$STORE,import=$SRC"
                    unchanged 32 "" without_fuse n "$MNT" -o "store=file://$HERE/new,create,import=$SRC"
                    unchanged 32 "" without_fuse n "$MNT" -o "store=file://$STORE"
                    unchanged 32 "" without_fuse n "$MNT" -o "store=file://$STORE,import=$SRC,state=$HERE/a/b/c"
                    prints 'user.mine="x"' eval 'getfattr --absolute-names -dm - "$SRC" | sed -e "/^#/d" -e "/^$/d"'
                    prints "" find "$STORE" "$HERE/data" -mindepth 1 -not -name replica
                    """#)
        }
    }
}
