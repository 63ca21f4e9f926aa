import Glibc
import SystemPackage
import Testing
import Threads

@testable import FuseMount

/// Notifications to the kernel.
@Suite struct NotifierTests {
    private func sent(_ mount: Mount) {
        let done = Gate(false)
        mount.session.notifier.afterQueued { done.withLock { $0 = true } }
        done.wait { $0 }
    }

    @Test func invalidatedEntryIsLookedUpAgain() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            for name in ["7", "absent"] {
                for _ in 0..<3 { _ = statError(mount.file(name)) }
                #expect(fileSystem.calls["lookup " + name] == 1)
                mount.session.notifier.invalidateEntry(parent: rootNode, name: Array(name.utf8))
                sent(mount)
                for _ in 0..<3 { _ = statError(mount.file(name)) }
                #expect(fileSystem.calls["lookup " + name] == 2)
            }
            mount.session.notifier.expireEntry(parent: rootNode, name: Array("7".utf8))
            sent(mount)
            _ = statError(mount.file("7"))
            #expect(fileSystem.calls["lookup 7"] == 3)
        }
    }

    @Test func invalidatedAttributesAreRequestedAgain() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            for _ in 0..<3 { _ = statError(mount.file("7")) }
            #expect(fileSystem.calls["attributes 107"] == 1)
            mount.session.notifier.invalidateInode(107, offset: -1)
            sent(mount)
            for _ in 0..<3 { _ = statError(mount.file("7")) }
            #expect(fileSystem.calls["attributes 107"] == 2)
        }
    }

    @Test func invalidatedPagesAreReadAgain() async throws {
        let fileSystem = SyntheticFileSystem(openFlags: .keepCache)
        fileSystem.text.withLock { $0 = "before" }
        try await withMount(fileSystem) { mount in
            #expect(contents(mount.file("7"))?.hasPrefix("before") == true)
            fileSystem.text.withLock { $0 = "after" }
            #expect(contents(mount.file("7"))?.hasPrefix("before") == true)
            mount.session.notifier.invalidateInode(107)
            sent(mount)
            #expect(contents(mount.file("7"))?.hasPrefix("after") == true)
        }
    }

    @Test func deletedEntryIsSeenByItsWatchers() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            let watch = inotify_init1(0)
            defer { close(watch) }
            let deleteSelf: UInt32 = 0x400
            #expect(inotify_add_watch(watch, mount.file("7"), deleteSelf) >= 0)
            mount.session.notifier.deleteEntry(parent: rootNode, child: 107, name: Array("7".utf8))
            var waiting = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
            try #require(poll(&waiting, 1, 30_000) == 1)
            var event = [UInt32](repeating: 0, count: 1024)
            #expect(read(watch, &event, 4096) >= 16)
            // wd, mask, cookie, length
            #expect(event[1] & deleteSelf != 0)
            #expect(statError(mount.file("7")) == 0)
            #expect(fileSystem.calls["lookup 7"] == 2)
        }
    }

    /// Somebody waits for the call, as `replica wait` does.
    @Test func withoutAThreadTheMountEndsAndCallbacksAreCalled() async throws {
        try await onOwnThread {
            try await withFolder { folder in
                let session = try Session(SyntheticFileSystem(), options: .test())
                try session.mount(at: folder)
                let called = Gate(0)
                session.notifier.invalidateInode(107)
                session.notifier.afterQueued { called.withLock { $0 += 1 } }
                #expect(throws: Errno.resourceTemporarilyUnavailable) { try session.run { _ in nil } }
                #expect(called.withLock { $0 } == 1)
                session.notifier.afterQueued { called.withLock { $0 += 1 } }
                #expect(called.withLock { $0 } == 2 && names(folder) == [])
            }
        }
    }

    @Test func callbacksOfASessionThatNeverRanAreCalled() throws {
        let called = Gate(0)
        var session: Session? = try Session(SyntheticFileSystem(), options: .test())
        session?.notifier.afterQueued { called.withLock { $0 += 1 } }
        #expect(called.withLock { $0 } == 0)
        session = nil
        #expect(called.withLock { $0 } == 1)
    }

    @Test func callbacksAfterTheEndAreCalled() async throws {
        let fileSystem = SyntheticFileSystem()
        try await withMount(fileSystem) { mount in
            mount.end()
            mount.session.notifier.invalidateInode(107)
            sent(mount)
        }
    }
}
