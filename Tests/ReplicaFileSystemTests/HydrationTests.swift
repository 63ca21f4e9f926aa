import Glibc
import ReplicaFileSystem
import ReplicaModel
import ReplicaTestSupport
import Testing

/// Files and folders whose content is in the store.
@Suite struct HydrationTests {
    private static func makeStore() -> MemoryStore {
        let store = MemoryStore()
        store.makeFolder("d")
        store.write("hello from the store", to: "d/hello")
        store.write([UInt8](repeating: 7, count: 4 << 20), to: "big")
        return store
    }

    @Test func contentIsFetchedWhenItIsRead() async throws {
        try await withDomain(Self.makeStore()) { mounted, checks in
            checks.expect(blockUntil { names(in: mounted.mount) == ["big", "d"] }, "\(names(in: mounted.mount))")
            checks.equal(status(mounted.mount + "/d/hello")?.st_size, 20)
            checks.equal(mounted.store.calls(of: .fetchContents).count, 0)
            checks.equal(readFile(mounted.mount + "/d/hello"), "hello from the store")
            checks.equal(readFile(mounted.tree + "/d/hello"), "hello from the store")
            checks.expect(writeFile(mounted.mount + "/d/hello", "ours"), "write")
            checks.expect(blockUntil { mounted.store.text(at: "d/hello") == "ours" }, "sent")
        }
    }

    @Test func onlyTheReadRangeIsFetched() async throws {
        try await withDomain(Self.makeStore()) { mounted, checks in
            checks.expect(blockUntil { status(mounted.mount + "/big") != nil }, "listed")
            let file = checks.call(open(mounted.mount + "/big", O_RDONLY))
            var byte: UInt8 = 0
            checks.equal(pread(file, &byte, 1, 3 << 20), 1)
            checks.equal(byte, 7)
            checks.call(close(file))
            checks.equal(status(mounted.mount + "/big")?.st_size, 4 << 20)
        }
    }

    @Test func truncationFetchesNothing() async throws {
        try await withDomain(Self.makeStore()) { mounted, checks in
            checks.expect(blockUntil { status(mounted.mount + "/big") != nil }, "listed")
            checks.call(chmod(mounted.mount + "/big", 0o600))
            checks.call(rename(mounted.mount + "/big", mounted.mount + "/small"))
            checks.expect(writeFile(mounted.mount + "/small", "new"), "write")
            checks.equal(readFile(mounted.mount + "/small"), "new")
            checks.equal(mounted.store.calls(of: .fetchContents).count, 0)
        }
    }

    @Test func excludedProgramsTriggerNoDownload() async throws {
        var options = FileSystemOptions()
        options.programsThatDoNotHydrate = ["thumbnailer"]
        try await withDomain(Self.makeStore(), options) { mounted, checks in
            checks.expect(blockUntil { status(mounted.mount + "/d/hello") != nil }, "listed")
            checks.expect(writeFile("/proc/thread-self/comm", "thumbnailer"), "rename the thread")
            checks.expect(readFile(mounted.mount + "/d/hello") == nil, "was read")
            checks.equal(errno, EDEADLK)
            checks.expect(writeFile("/proc/thread-self/comm", "reader"), "rename the thread")
            checks.equal(readFile(mounted.mount + "/d/hello"), "hello from the store")
        }
    }

    @Test func aSignalEndsTheWait() async throws {
        let store = Self.makeStore()
        let asked = Flag()
        store.setHooks(before: { call in
            guard call.method == .fetchContents else { return }
            asked.raise()
            // Ends only with the session's own timeout, or when it is cancelled.
            try? await Task.sleep(for: .seconds(20))
        })
        try await withDomain(store) { mounted, checks in
            checks.expect(blockUntil { status(mounted.mount + "/d/hello") != nil }, "listed")
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in }
            sigaction(SIGURG, &action, nil)
            let reader = Interruptible()
            startThread {
                reader.begin()
                let text = readFile(mounted.mount + "/d/hello")
                reader.end(text == nil ? errno : 0)
            }
            asked.wait()
            checks.equal(reader.interrupt(), EINTR)
            store.setHooks()
        }
    }
}

/// A thread that is interrupted in a system call.
private final class Interruptible: @unchecked Sendable {  // The flags order all that is touched.
    private var thread = pthread_t()
    private var result: Int32 = 0
    private let begun = Flag()
    private let ended = Flag()

    func begin() {
        // Threads that come of Swift's own have all signals blocked.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGURG)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        thread = pthread_self()
        begun.raise()
    }

    func end(_ result: Int32) {
        self.result = result
        ended.raise()
    }

    /// Signals the thread and waits for what its call said.
    func interrupt() -> Int32 {
        begun.wait()
        pthread_kill(thread, SIGURG)
        ended.wait()
        return result
    }
}
