import Testing

/// Programs that lean on a filesystem work on the mount.
@Suite struct FileSystemProgramTests {
    @Test func gitWorks() async throws {
        try await run(
            """
            export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
                GIT_COMMITTER_EMAIL=a@b
            git init -q r && cd r
            for i in 1 2 3 4 5 6 7 8; do mkdir d$i; for j in 1 2 3 4 5; do echo $i $j > d$i/f$j; done; done
            git add . && git commit -qm one
            git mv d1 e1 && echo more >> d2/f2 && git commit -qam two
            git checkout -q HEAD~1 && test -f d1/f1 && git checkout -q - && test -f e1/f1
            cd .. && git clone -q r c && cd c && git gc -q && git fsck --strict 2>&1
            test -z "$(git status --porcelain)" && cd ../r && test -z "$(git status --porcelain)"
            """)
    }

    @Test func archivesAreCreatedAndExtracted() async throws {
        try await run(
            """
            mkdir a && cd a && mkdir -p x/y/z && echo text > x/f && ln x/f x/g && ln -s f x/s && mkfifo x/p
            truncate -s 1M x/y/sparse && echo end >> x/y/sparse && chown 12:34 x/g && chmod 4755 x/f && chmod 2775 x/y
            touch -d '2001-02-03 04:05:06.789' x/y/z
            cd .. && tar -cSf a.tar a && mkdir b && tar -xpf a.tar -C b && tar -df a.tar -C b
            cp -a a c && diff -r --no-dereference a/x/y c/x/y && test c/x/f -ef c/x/g && test "$(stat -c %a c/x/f)" = 4755
            sed -i s/text/other/ a/x/s && grep -q other a/x/s
            du -s a > sizes && find . -name 'f' | wc -l | grep -qx 3
            rm -rf a b && test ! -e a && rm -rf c && test "$(ls)" = "$(printf 'a.tar\\nsizes')"
            """)
    }

    /// Runs a shell script in the mount; it has to succeed at every step.
    private func run(_ script: String) async throws {
        try await withMount { mounted, checks in shell(script, in: mounted.place, checks) }
    }
}
