import CLinux
import Glibc
import ReplicaModel
import Testing

@testable import DirectoryStore

@Suite struct FolderIndexTests {
    /// An event in a folder that can't be read waits, and nobody waits for it.
    @Test func aBlockedFolderInterruptsNoSearch() {
        var index = FolderIndex()
        index.list(.root)
        index.addUnsettled([EntryPlace(parent: .root, name: FileName("a")): [.movedAway, .blocked]])
        #expect(!index.isUnsteady)
        index.addUnsettled([EntryPlace(parent: .root, name: FileName("b")): .movedAway])
        #expect(index.isUnsteady)
        _ = index.takeUnsettled()
        #expect(!index.isUnsteady)
    }

    /// In a store that changes all the time, something has always just left its place.
    @Test func earlierWaitersAreNotHeldUpByALaterMove() {
        var index = FolderIndex()
        index.list(.root)
        let place = EntryPlace(parent: .root, name: FileName("a"))
        var raw = cl_statx()
        (raw.ino, raw.mode, raw.nlink) = (7, UInt16(S_IFREG | 0o644), 1)
        index.record(FileStatus(raw), at: place)
        let earlier = ContinuousClock.now
        index.settle(place, nil, .movedAway)
        #expect(!index.isUnsteady(since: earlier))
        #expect(index.isUnsteady(since: .now + .seconds(1)))
    }
}
