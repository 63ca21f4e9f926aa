import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// The effect of a power cut on a file: all combinations.
@Suite struct PowerCutPlanTests {
    private static let files: [FileAfterPowerCut] = (0..<64).flatMap { bits in
        func has(_ bit: Int) -> Bool { bits & 1 << bit != 0 }
        return [(0, 0), (0, 9), (5, 9), (9, 9), (12, 9)].flatMap { size, base in
            [nil, 0, 4, 10].map { synced in
                FileAfterPowerCut(
                    hasBase: has(0), size: size, sizeInStore: base, isAsRecorded: has(1), isDurable: has(2),
                    isEdited: has(3), syncedSize: synced, isOfRecordedTree: has(5), isFetched: has(4))
            }
        }
    }

    /// The same table by result: the conditions of each finding.
    @Test func onlyASyncedDifferenceIsAnEdit() {
        for file in Self.files {
            // A file shorter than its synced content was truncated since, if the tree is the same; an empty one may be
            // being rewritten.
            let isCut = file.isOfRecordedTree && file.size > 0
            let isUnchanged = file.isAsRecorded && file.isDurable
            // Without a recorded edit, a program may have synced one before it was recorded.
            let mayBeEdited = file.isEdited || !isUnchanged
            let isSynced = mayBeEdited && file.syncedSize.map { file.size >= $0 || isCut } == true
            let isKnown = file.isFetched || isUnchanged
            switch finding(file) {
            case .new: #expect(!file.hasBase, "\(file)")
            case .edited: #expect(file.hasBase && isSynced, "\(file)")
            case .asRecorded: #expect(file.hasBase && !isSynced && isKnown, "\(file)")
            case .lost:
                #expect(file.hasBase && !isSynced && !isKnown && file.size == 0 && file.sizeInStore > 0, "\(file)")
            case .doubtful(let isEdited):
                #expect(file.hasBase && !isSynced && !isKnown, "\(file)")
                #expect(file.size > 0 || file.sizeInStore == 0, "\(file)")
                #expect(isEdited == (file.isEdited && file.isAsRecorded), "\(file)")
            }
        }
    }

    private static let compared: [ComparedFile] = [ContentComparison.same, .less, .more, .other].flatMap { comparison in
        (0..<32).map { bits in
            func has(_ bit: Int) -> Bool { bits & 1 << bit != 0 }
            return ComparedFile(
                comparison: comparison, isDoubtful: has(0), isEdited: has(1), hasGapHere: has(2), hasGapInStore: has(3),
                isKnownInStore: has(4))
        }
    }

    @Test func aShorterFileNeverReplacesALongerOne() {
        for file in Self.compared {
            let plan = planAfterPowerCut(file)
            switch file.comparison {
            case .same: #expect(plan == .inStep)
            case .less: #expect(plan == .takeTheirs)
            case .more: #expect(plan == .send)
            case .other:
                // Content in doubt is sent only if it looks like the recorded edit of the store's content.
                let isEdit = file.isEdited && file.isKnownInStore && !file.hasGapHere
                if file.isDoubtful { #expect(plan == (isEdit ? .send : .keepBoth), "\(file)") }
                // Content that is in doubt in the store never replaces content that is known to be complete here.
                if !file.isDoubtful {
                    let isTheirs = !file.isKnownInStore && !file.hasGapInStore
                    #expect(plan == (file.isKnownInStore ? .send : isTheirs ? .takeTheirs : .keepBoth), "\(file)")
                }
            }
        }
    }

    @Test(arguments: [
        ("text", "text", ContentComparison.same), ("", "text", .less), ("te", "text", .less), ("te\0\0", "text", .less),
        ("\0ext", "text", .less), ("text\0\0", "text", .less), ("text", "te", .more), ("text", "\0\0xt", .more),
        ("text", "texT", .other), ("tex", "toxt", .other), ("\0ext", "tex\0", .other), ("", "", .same),
    ])
    func lostBytesReadAsZeros(_ one: String, _ other: String, _ comparison: ContentComparison) throws {
        let folder = try BenchFolder()
        try FileTree.make(folder.path.string, ["one": one, "other": other])
        let files = ["one", "other"].map { open(folder.path.appending($0).string, O_RDONLY | O_CLOEXEC) }
        defer { for file in files { close(file) } }
        #expect(try ByteComparison(files[0], files[1]).result == comparison)
    }

    /// Beyond the size of one read.
    @Test(arguments: [(300_000, false), (300_000, true)])
    func aGapIsFoundAnywhere(_ size: Int, _ isTorn: Bool) throws {
        let folder = try BenchFolder()
        let whole = String(repeating: "x", count: size)
        let torn = String(repeating: "x", count: 270_336) + String(repeating: "\0", count: size - 270_336)
        try FileTree.make(folder.path.string, ["one": isTorn ? torn : whole, "other": whole + "y"])
        let files = ["one", "other"].map { open(folder.path.appending($0).string, O_RDONLY | O_CLOEXEC) }
        defer { for file in files { close(file) } }
        let comparison = try ByteComparison(files[0], files[1])
        #expect(comparison.result == .less)
        #expect(comparison.hasGap == (isTorn, false))
    }
}
