import ReplicaModel
import Testing

@testable import DirectoryStore

@Suite struct FolderIndexTests {
    /// An event in a folder that can't be read waits, and nobody waits for it.
    @Test func aBlockedFolderMakesNoLookUnsteady() {
        var index = FolderIndex()
        index.list(.root)
        index.addUnsettled([EntryPlace(parent: .root, name: FileName("a")): [.movedAway, .blocked]])
        #expect(!index.isUnsteady)
        index.addUnsettled([EntryPlace(parent: .root, name: FileName("b")): .movedAway])
        #expect(index.isUnsteady)
        _ = index.takeUnsettled()
        #expect(!index.isUnsteady)
    }
}
