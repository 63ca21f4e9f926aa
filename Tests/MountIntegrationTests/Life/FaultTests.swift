import Testing

/// Extreme input from outside does not crash the daemon. If the daemon crashes anyway, it ends immediately.
@Suite struct FaultTests {
    /// The last time that fits into 64 bits of nanoseconds, one after it, and one long after it: on the mount, in the
    /// store and in an imported directory.
    @Test func noDateCrashesTheDaemon() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                dates="@9223372036.854775807 @9223372036.854775808 @10413792000 @15000000000 @-9223372037.5 @-1.5"
                # Fails for what the disk does not take, which is no fault of ours.
                touch_all() { local n=0; for date in $dates; do echo "$n" >"$1/f$n"; touch -d "$date" "$1/f$n"; n=$((n + 1)); done; }
                mkdir "$SRC/imported"; touch_all "$SRC/imported"
                import_it; mount_it; pid=$(daemon)
                mkdir "$MNT/here"; touch_all "$MNT/here"; settle
                mkdir "$STORE/there"; touch_all "$STORE/there"
                arrived() { [ "$(ls "$MNT/there" | wc -l)" = 6 ] && content_is "$MNT/there/f5" 5; }
                eventually arrived; settle; same
                equal "$(daemon)" "$pid"
                # What is later than can be told is the last that can.
                for folder in imported here there; do equal "$(stat -c %.9Y "$MNT/$folder/f2")" 9223372036.854775807; done
                unmount_it; mount_it; settle; same
                for folder in imported here there; do equal "$(stat -c %.9Y "$MNT/$folder/f2")" 9223372036.854775807; done
                """)
        }
    }

    /// In the background, and in the foreground as under a unit.
    @Test func aCrashIsLogged() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                said_of_crashes() { grep -c '^mount.replica: crashed with signal 11$' "$1"; }
                begin; settle
                pid=$(daemon); kill -SEGV "$pid"; gone "$pid"
                equal "$(said_of_crashes "$STATE/daemon.log")" 1
                "$BIN/mount.replica" d "$MNT" -o foreground 2>said & child=$!
                # The dead mount is gone then. Before, it has no handler yet.
                serving() { [ "$(daemon)" = "$child" ] && ls "$MNT" >/dev/null 2>&1; }
                eventually serving
                kill -SEGV "$child"
                code=0; wait "$child" || code=$?
                equal "$code" 139
                equal "$(said_of_crashes said)" 1
                equal "$(said_of_crashes "$STATE/daemon.log")" 2
                """#)
        }
    }

    /// A fault in a thread without a usable stack, for example a full one: a thread of Swift's pool, which has no
    /// alternate stack for a handler.
    @Test func unhandledCrashesDumpNothing() async throws {
        try await Trial.run { trial in
            try await trial.shell(
                #"""
                ulimit -c unlimited
                cat >break.c <<'END'
                #define _GNU_SOURCE
                #include <elf.h>
                #include <signal.h>
                #include <stdlib.h>
                #include <sys/ptrace.h>
                #include <sys/syscall.h>
                #include <sys/uio.h>
                #include <sys/user.h>
                #include <sys/wait.h>
                #include <unistd.h>
                // break PROCESS THREAD: leaves the thread no stack, and has it fault.
                int main(int count, char **words) {
                    pid_t process = atoi(words[1]), thread = atoi(words[2]);
                    int status;
                    struct user_regs_struct registers;
                    struct iovec all = {&registers, sizeof registers};
                    if (ptrace(PTRACE_SEIZE, thread, 0, 0) || ptrace(PTRACE_INTERRUPT, thread, 0, 0)) return 1;
                    if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) return 2;
                    if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &all)) return 3;
                #ifdef __x86_64__
                    registers.rsp = 4096;
                #else
                    registers.sp = 4096;
                #endif
                    if (ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &all)) return 4;
                    if (syscall(SYS_tgkill, process, thread, SIGSEGV) || ptrace(PTRACE_CONT, thread, 0, 0)) return 5;
                    while (waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status))
                        if (ptrace(PTRACE_CONT, thread, 0, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status))) return 6;
                    return 0;
                }
                END
                gcc -o break break.c
                echo kept >"$SRC/file"; begin; settle; end_daemon
                "$BIN/mount.replica" d "$MNT" -o foreground 2>said & child=$!
                serving() { content_is "$MNT/file" kept; }
                eventually serving; settle
                pid=$(daemon); equal "$pid" "$child"
                # A thread of the pool may end before it is met.
                breaks_one_of_pool() {
                    local thread
                    thread=$(grep -ls -- '-qos$' /proc/"$pid"/task/*/comm | head -n 1 | cut -d/ -f5)
                    [ -n "$thread" ] && ./break "$pid" "$thread"
                }
                eventually breaks_one_of_pool
                # Bash says of a child that a signal ended whether it dumped.
                code=0; { wait "$child"; } 2>end || code=$?
                [ "$code" -gt 128 ] || fail "it ended with $code"
                lacks end dumped
                not ls core* >dumps 2>/dev/null
                lacks said "crashed with signal"
                gone "$pid"
                umount -l "$MNT" 2>/dev/null || true; mount_it; content_is "$MNT/file" kept
                """#)
        }
    }

    /// A core dump would wait for a thread that waits for the mount. No program waits long for a mount whose daemon
    /// crashed.
    @Test(arguments: ["ILL", "SEGV", "ABRT", "TRAP"]) func aCrashEndsTheDaemonImmediately(signal: String) async throws {
        try await Trial.run { trial in
            try await trial.shell(
                """
                ulimit -c unlimited
                echo kept >"$SRC/file"; begin; settle
                pid=$(daemon); kill -\(signal) "$pid"; gone "$pid"
                has "$STATE/daemon.log" "crashed with signal $(kill -l \(signal))"
                not cat "$MNT/file" 2>/dev/null
                umount -l "$MNT"; mount_it; content_is "$MNT/file" kept; settle; same
                """)
        }
    }
}
