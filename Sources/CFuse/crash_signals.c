// A fault of this process terminates it immediately.
#include "CFuse.h"
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};

// A second log for the line, if it is not standard error.
static volatile sig_atomic_t other = -1;

static void say_to(int descriptor, const char *text) {
    // Nothing can be done about it here.
    if (write(descriptor, text, strlen(text)) < 0) return;
}

static void say(const char *text) {
    say_to(STDERR_FILENO, text);
    if (other >= 0) say_to(other, text);
}

static void end(int number) {
    const char digits[] = {(char)('0' + number / 10), (char)('0' + number % 10), '\n', 0};
    say("mount.replica: crashed with signal ");
    say(number < 10 ? digits + 1 : digits);
    // Closes the device, so that the kernel fails all requests of the mount.
    _exit(128 + number);
}

void cfuse_report_faults_to(int descriptor) { other = descriptor; }

void cfuse_end_at_faults(void) {
    struct sigaction action = {.sa_handler = end, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigfillset(&action.sa_mask);
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) {
        sigdelset(&action.sa_mask, faults[index]);
    }
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigaction(faults[index], &action, NULL);
    // A fault without a handler, such as a stack overflow in a thread without an alternate stack, dumps no core either.
    // A core size limit of 0 would not be enough: the kernel checks it after it has waited for all threads.
    prctl(PR_SET_DUMPABLE, 0);
    cfuse_prepare_thread_for_faults();
}

void cfuse_prepare_thread_for_faults(void) {
    // Space for the handler and the saved registers of wide processors; untouched pages cost nothing.
    static _Thread_local char room[32 << 10];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    sigaltstack(&stack, NULL);
}
