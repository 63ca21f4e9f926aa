import Testing

/// A mapping whose descriptor is closed. With the kernel's passthrough (root's mounts) the daemon is told of neither the mapping nor the
/// stores to it.
@Suite struct MappedFileTests {
    /// `mapped FILE r|w` maps the file and closes it, then says `ready`. On `go`, it stores `b` into it, syncs it and says `stored`, if it may
    /// write; on `end` it prints the first and the last byte.
    private let program = #"""
        cat >mapped.c <<'END'
        #include <fcntl.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/stat.h>
        #include <unistd.h>
        static void say(const char *name) { fclose(fopen(name, "w")); }
        static void await(const char *name) { while (access(name, F_OK)) usleep(10000); }
        int main(int count, char **words) {
            int writes = words[2][0] == 'w';
            int file = open(words[1], writes ? O_RDWR : O_RDONLY);
            struct stat status;
            if (file < 0 || fstat(file, &status)) return 1;
            char *bytes = mmap(NULL, status.st_size, PROT_READ | (writes ? PROT_WRITE : 0), MAP_SHARED, file, 0);
            if (bytes == MAP_FAILED) return 2;
            close(file);
            say("ready");
            if (writes) {
                await("go");
                memset(bytes, 'b', status.st_size);
                say("stored");
                await("again");
                // To pages that are still dirty.
                memset(bytes, 'c', status.st_size);
                say("stored-again");
            }
            await("end");
            printf("%c%c\n", bytes[0], bytes[status.st_size - 1]);
            return 0;
        }
        END
        gcc -o mapped mapped.c
        is_in_use() {
            local got=0; replica evict "$MNT/f" >said 2>&1 || got=$?
            equal "$got" 9; has said "open in a program"
        }
        head -c 300000 /dev/zero | tr '\0' a >"$SRC/f"
        begin; settle

        """#

    @Test func aMappedFileIsNotEvicted() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                program + #"""
                    ./mapped "$MNT/f" r >bytes & reader=$!
                    eventually test -e ready
                    is_in_use
                    touch end; wait "$reader"
                    content_is bytes aa
                    eventually replica evict "$MNT/f"
                    """#)
        }
    }

    @Test func writesToAMappingAreSent() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                program + #"""
                    ./mapped "$MNT/f" w >bytes & writer=$!
                    eventually test -e ready
                    settle
                    touch go; eventually test -e stored
                    settle
                    head -c 300000 /dev/zero | tr '\0' b >stored; cmp stored "$STORE/f"
                    touch again; eventually test -e stored-again
                    settle
                    head -c 300000 /dev/zero | tr '\0' c >stored; cmp stored "$STORE/f"
                    is_in_use
                    touch end; wait "$writer"
                    content_is bytes cc
                    settle; eventually replica evict "$MNT/f"
                    cmp stored "$MNT/f"
                    """#)
        }
    }

    /// On tmpfs a page is never clean, so a second store to it changes no time. It is sent when the mapping is gone.
    @Test func writesToAMappingInMemoryAreSent() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                program + #"""
                    unmount_it; replica remove d --keep none --yes >/dev/null
                    mkdir memory; mount -t tmpfs none memory; export XDG_DATA_HOME=$HERE/memory STATE=$HERE/memory/replica/d
                    replica add d --store "file://$STORE" >/dev/null; replica mount d "$MNT" >/dev/null
                    cat "$MNT/f" >/dev/null
                    ./mapped "$MNT/f" w >bytes & writer=$!
                    eventually test -e ready
                    touch go; eventually test -e stored
                    replica wait d >/dev/null
                    head -c 300000 /dev/zero | tr '\0' b >stored; eventually cmp -s stored "$STORE/f"
                    touch again; eventually test -e stored-again
                    touch end; wait "$writer"
                    content_is bytes cc
                    replica wait d >/dev/null; eventually replica evict "$MNT/f" >/dev/null
                    head -c 300000 /dev/zero | tr '\0' c >stored; cmp stored "$STORE/f"; cmp stored "$MNT/f"
                    unmount_it; no_daemon; eventually umount memory
                    """#)
        }
    }

    /// After `umount -l`, the next daemon compares the tree.
    @Test func writesAfterTheDaemonsEndAreSentLater() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                program + #"""
                    ./mapped "$MNT/f" w >bytes & writer=$!
                    eventually test -e ready
                    settle; umount -l "$MNT"; end_daemon
                    touch go again; eventually test -e stored-again
                    touch end; wait "$writer"
                    mount_it; settle; same
                    content_is bytes cc
                    equal "$(head -c 1 "$STORE/f")" c
                    # The file is in use no more: the next stop is clean.
                    replica evict "$MNT/f"
                    unmount_it
                    equal "$(sqlite3 "$STATE/replica.db" "SELECT value FROM meta WHERE key = 'state'")" clean
                    """#)
        }
    }
}
