import Testing

/// `replica doctor` where a domain's store is full, read-only, without attributes, or of no program that is installed.
@Suite struct DoctorStoreTests {
    @Test func faultsOfAFolderAreFound() async throws {
        try await Trial.runDoctor(
            #"""
            import_it; settle; end_daemon
            mount -t tmpfs -o size=64M none "$STORE"
            mended store doctor_d
            head -c 65108864 /dev/zero >"$STORE/filler"
            finds - "warning  d: store: the disk of $STORE has only 1[.][0-9] MiB left" doctor_d
            no_mend store
            head -c 100M /dev/zero >"$STORE/filler" 2>/dev/null || true
            finds 20 "error    d: store: the disk of $STORE is full" doctor_d
            no_mend store
            rm "$STORE/filler"
            mended store doctor_d
            used=$(($(stat -f -c '%c - %d' "$STORE")))
            mount -o "remount,nr_inodes=$((used + 10))" "$STORE"
            finds 20 "error    d: store: the disk of $STORE has no inodes left" doctor_d
            mount -o "remount,nr_inodes=$((used + 500))" "$STORE"
            finds - "warning  d: store: the disk of $STORE has only [0-9]+ inodes left" doctor_d
            no_mend store
            mount -o "remount,ro,nr_inodes=100000" "$STORE"
            finds 20 "error    d: store: $STORE can't be written" doctor_d
            follow store doctor_d
            touch "$STORE/new"

            # Attributes are lacking, and it tells no free space.
            mount -t ramfs none "$STORE"
            finds - "warning  d: store: $STORE: the filesystem lacks extended attributes" doctor_d
            no_mend store
            """#)
    }

    @Test func aMissingStoreProgramIsFound() async throws {
        try await Trial.runDoctor(
            #"""
            import_it; settle; end_daemon
            # Nothing that the machine has.
            [ ! -d /usr/lib/replica ] || mount -t tmpfs none /usr/lib/replica
            mount -t tmpfs -o mode=755 none /usr/local/lib
            mkdir -p /usr/local/lib/replica/stores
            for pair in nosuch=nosuch davs=webdav dav=webdav s3=s3; do
                set_store "${pair%=*}://place/"
                finds 20 "error    d: store: replica-store-${pair#*=} is not installed; 'replica stores' lists" doctor_d
                case ${pair#*=} in
                    nosuch) mending="install -D -m 755 replica-store-nosuch /usr/local/lib/replica/stores/replica-store-nosuch" ;;
                    # Where this one was built.
                    *) mending="scripts/install --prefix $(realpath "$BIN/..")" ;;
                esac
                equal "$(mend store)" "$mending"
            done
            set_store nosuch://place/
            finds 20 "error    d: store: replica-store-nosuch is not installed" doctor_d
            printf '#!/bin/sh\n' >replica-store-nosuch
            follow store doctor_d
            chmod 644 /usr/local/lib/replica/stores/replica-store-nosuch
            install -m 755 "$BIN/replica-store-webdav" /usr/local/lib/replica/stores/
            set_store nosuch://place/
            finds 20 "error    d: store: replica-store-nosuch is not installed" doctor_d
            chmod 755 /usr/local/lib/replica/stores/replica-store-nosuch
            mended store doctor_d
            set_store davs://place/
            mended store doctor_d
            """#)
    }

    @Test func anInvalidURLIsFound() async throws {
        try await Trial.runDoctor(
            #"""
            import_it; settle; end_daemon
            set_store nonsense
            finds 20 "error    d: store: not a store URL" doctor_d
            set_store file://relative
            finds 20 "error    d: store: a file: URL needs an absolute path" doctor_d
            no_mend store
            set_store "file://$STORE"
            mended store doctor_d
            """#)
    }
}
