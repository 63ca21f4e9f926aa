import Testing

/// Handles of name_to_handle_at(2), as NFS servers and others keep them.
@Suite struct HandleTests {
    /// `handle name PATH` writes a handle; `handle open MOUNT` reads one and prints what its file holds, or its folder's
    /// path; on an error it ends with the errno.
    private let program = #"""
        cat >handle.c <<'END'
        #define _GNU_SOURCE
        #include <dirent.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <unistd.h>
        int main(int count, char **words) {
            union { struct file_handle handle; char space[sizeof(struct file_handle) + MAX_HANDLE_SZ]; } it = {0};
            it.handle.handle_bytes = MAX_HANDLE_SZ;
            int mount;
            if (strcmp(words[1], "name") == 0) {
                if (name_to_handle_at(AT_FDCWD, words[2], &it.handle, &mount, 0) != 0) return errno;
                return fwrite(&it, sizeof it, 1, stdout) != 1;
            }
            if (fread(&it, sizeof it, 1, stdin) != 1) return 255;
            int root = open(words[2], O_RDONLY | O_DIRECTORY);
            int file = open_by_handle_at(root, &it.handle, O_RDONLY);
            if (file < 0) return errno;
            struct stat status;
            fstat(file, &status);
            char text[4096];
            if (S_ISDIR(status.st_mode)) {
                char link[64];
                snprintf(link, sizeof link, "/proc/self/fd/%d", file);
                ssize_t got = readlink(link, text, sizeof text);
                return got < 0 || write(1, text, (size_t)got) != got;
            }
            ssize_t got = read(file, text, sizeof text);
            return got < 0 || write(1, text, (size_t)got) != got;
        }
        END
        gcc -o handle handle.c
        open_it() { ./handle open "$MNT" <"$1"; }

        """#

    /// What the kernel has forgotten, and what a mount before gave out, is found by its number.
    @Test func aHandleOutlivesTheMount() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                program + #"""
                    mkdir -p "$SRC/a/b"; echo deep >"$SRC/a/b/file"; echo gone >"$SRC/gone"; echo moved >"$SRC/moved"
                    ln "$SRC/a/b/file" "$SRC/a/link"
                    begin; settle
                    for name in a/b a/b/file gone moved; do ./handle name "$MNT/$name" >"of-${name//\//-}"; done
                    equal "$(open_it of-a-b-file)" deep
                    equal "$(open_it of-a-b)" "$MNT/a/b"
                    unmount_it; mount_it
                    equal "$(open_it of-a-b-file)" deep
                    equal "$(open_it of-a-b)" "$MNT/a/b"
                    rm "$MNT/gone"; mv "$MNT/moved" "$MNT/a/b/new"
                    equal "$(open_it of-moved)" moved
                    got=0; open_it of-gone || got=$?
                    equal "$got" 116
                    settle; unmount_it; mount_it
                    equal "$(open_it of-moved)" moved
                    got=0; open_it of-gone || got=$?
                    equal "$got" 116
                    settle; same
                    """#)
        }
    }
}
