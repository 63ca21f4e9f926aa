import Testing

/// Common programs work without errors.
@Suite struct ProgramTests {
    /// A new repository in the mount; shell functions.
    private static let repository = """
        git() { command git -c user.name=t -c user.email=t@t -c gc.auto=0 -c core.fsync=none "$@"; }
        git init -q -b main "$MNT/work"; cd "$MNT/work"
        """

    @Test func gitWorks() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                \(Self.repository)
                for d in a b c d; do
                    mkdir -p "$d/deep"
                    for n in $(seq 50); do echo "$d $n" >"$d/deep/file$n"; done
                done
                git add -A; git commit -q -m one
                git checkout -q -b other
                for n in $(seq 50); do echo more >>"a/deep/file$n"; done
                git mv b e; git rm -q -r c; git commit -q -a -m two
                git checkout -q main; equal "$(ls)" "$(printf 'a\\nb\\nc\\nd')"
                git checkout -q other; equal "$(ls)" "$(printf 'a\\nd\\ne')"
                git merge -q main; git gc -q --prune=now; git fsck --strict
                prints "" git status --porcelain
                git clone -q "$MNT/work" "$MNT/clone"
                git clone -q "$MNT/work" "$HERE/clone"
                diff -r --exclude=.git "$HERE/clone" "$MNT/clone"
                settle; same
                git -C "$STORE/work" fsck --strict
                """)
        }
    }

    /// git only touches objects that it has; it removes packed ones with their folders, which it may need again
    /// immediately.
    @Test func gitPacksItsTouchedFiles() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                \(Self.repository)
                for n in $(seq 200); do echo "$n" >"f$n"; done
                git add -A; settle; sleep 1; git rm -q --cached -r .; git add -A; git commit -q -m one; settle
                git gc -q --prune=now
                for n in $(seq 200); do echo "later $n" >"f$n"; done
                git commit -q -a -m two; git fsck --strict
                settle; sleep 1; git fsck --strict; same
                prints "" find . -name '* 2*'
                git -C "$STORE/work" fsck --strict
                """)
        }
    }

    @Test func tarAndRsyncCopyInBothDirections() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                mkdir -p tree/d/e; cd tree
                for n in $(seq 60); do head -c $((n * 97)) /dev/urandom >"d/file$n"; done
                ln d/file1 d/e/hard; ln -s ../d d/e/link; ln -s nowhere dangling; mkfifo fifo
                truncate -s 3M sparse; printf x | dd of=sparse bs=1 seek=1000000 conv=notrunc status=none
                setfattr -n user.colour -v blue d/file2; setfacl -m u:1:rw,g:2:r d/file3; setfacl -d -m u:3:rwx d/e
                chmod 4711 d/file4; chmod 1777 d/e; chown 7:8 d/file5; touch -d @123456789.123456789 d/file6
                printf data >"$(printf 'bad\\377name')"; printf data >"$(printf 'n%.0s' $(seq 255))"
                cd "$HERE"
                rsync -aHAX --delete --numeric-ids tree/ "$MNT/rsync/"
                left() { rsync -aHAXn --itemize-changes --delete --numeric-ids --checksum "$1" "$2"; }
                prints "" left tree/ "$MNT/rsync/"
                rsync -aHAX --delete --numeric-ids "$MNT/rsync/" back/
                prints "" left back/ tree/
                mkdir "$MNT/tar" tarback
                tar -C tree --xattrs --acls --sparse -cf - . | tar -C "$MNT/tar" --xattrs --acls --sparse -xpf -
                prints "" left tree/ "$MNT/tar/"
                tar -C "$MNT/tar" --xattrs --acls --sparse -cf - . | tar -C tarback --xattrs --acls --sparse -xpf -
                prints "" left tarback/ tree/
                rm -rf tree/d/e; echo new >tree/new
                rsync -aHAX --delete --numeric-ids tree/ "$MNT/rsync/"
                prints "" left tree/ "$MNT/rsync/"
                test "$(du -k "$MNT/tar/sparse" | cut -f1)" -lt 100
                """)
        }
    }

    @Test func sqliteUnderTwoWriters() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin
                base="$MNT/base.db"
                sqlite3 "$base" "PRAGMA journal_mode=WAL; CREATE TABLE t (who, n)" >/dev/null
                writer() {
                    for n in $(seq 60); do echo ".timeout 120000"; echo "INSERT INTO t VALUES ('$1', $n);"; done |
                        sqlite3 "$base"
                }
                writer a & first=$!
                writer b & second=$!
                wait $first; wait $second
                equal "$(sqlite3 "$base" "SELECT count(*) FROM t; PRAGMA integrity_check")" "$(printf '120\\nok')"
                sqlite3 "$base" "PRAGMA journal_mode=DELETE; UPDATE t SET n = -n; VACUUM" >/dev/null
                settle
                equal "$(sqlite3 "$STORE/base.db" "SELECT sum(n) FROM t")" -3660
                """)
        }
    }

    @Test func aProjectIsBuilt() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                begin; cd "$MNT"
                for n in 1 2 3 4; do printf 'int f%d(void) { return %d; }\n' $n $n >f$n.c; done
                printf 'int f1(void),f2(void),f3(void),f4(void); int main(void) {\n' >main.c
                printf 'return f1()+f2()+f3()+f4()-10; }\n' >>main.c
                printf 'OBJ=main.o f1.o f2.o f3.o f4.o\nprogram: $(OBJ)\n\tcc -o $@ $(OBJ)\n' >Makefile
                make -s -j2; ./program
                equal "$(make -j2)" "make: 'program' is up to date."
                sleep 1.1; touch f1.c; make -s -j2 -q && fail "make saw no change"
                make -s; ./program; make -q
                """#)
        }
    }

    @Test func filesAreSavedInEveryWayProgramsDo() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                for name in sed editor copy; do echo "one" >"$SRC/$name"; done
                begin; settle
                id() { replica status "$MNT/$1" --json | grep -o '"id":"[^"]*"'; }
                mark() { getfattr --absolute-names --only-values -n user.replica.template "$STORE/$1"; }
                for name in sed editor copy; do id $name; mark $name; done >before
                sed -i s/one/two/ "$MNT/sed"
                echo two >"$MNT/beside"; sync "$MNT/beside"; mv "$MNT/beside" "$MNT/editor"
                cp "$MNT/copy" "$MNT/copy.new"; echo two >"$MNT/copy.new"; mv "$MNT/copy.new" "$MNT/copy"
                for name in sed editor copy; do content_is "$MNT/$name" two; done
                settle; same
                for name in sed editor copy; do id $name; mark $name; done >after
                diff before after
                """)
        }
    }

    @Test func coreUtilitiesWork() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; cd "$MNT"
                head -c 300000 /dev/urandom >big
                cp --reflink=auto big copy; cmp big copy
                cp --reflink=auto big "$HERE/outside"; cmp big "$HERE/outside"
                mkdir -p x/y/z; echo text >x/y/z/file
                equal "$(find . -type f | sort | tr '\\n' ' ')" "./big ./copy ./x/y/z/file "
                equal "$(du -s --apparent-size -b x/y/z/file | cut -f1)" 5
                equal "$(df --output=target . | tail -1)" "$MNT"
                size=$(df --output=size "$TREE"); prints "$size" df --output=size .
                chmod 600 big; chown 3:4 copy; touch -d @1000 x
                equal "$(stat -c %a big) $(stat -c %u:%g copy) $(stat -c %Y x)" "600 3:4 1000"
                mv x w; cat w/y/z/file; rm -r w; not test -e w
                truncate -s 10 big; equal "$(stat -c %s big)" 10
                settle; same
                """)
        }
    }

    @Test func aFolderOfTenThousandIsListedAndEmptied() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                begin; mkdir "$MNT/many"; cd "$MNT/many"
                seq -f 'f%.0f' 10000 | xargs touch
                equal "$(ls -U | sort | uniq | wc -l)" 10000
                equal "$(find . -name 'f*7' | wc -l)" 1000
                find . -name 'f*7' -delete
                equal "$(ls -U | wc -l)" 9000
                equal "$(find . -type f -printf '%i\\n' | sort -u | wc -l)" 9000
                """)
        }
    }
}
