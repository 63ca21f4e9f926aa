import Testing

/// The judge of power cuts, with allowed and forbidden results.
@Suite struct CutJudgeTests {
    @Test(arguments: CutCase.allowed + CutCase.forbidden)
    func eachOutcomeIsJudgedCorrectly(_ trial: CutCase) {
        let failures = CutJudge.failures([(trial.told, trial.attempted ?? trial.told)], trial.outcome)
        #expect(failures.count == trial.failures.count, "\(failures)")
        for (said, expected) in zip(failures, trial.failures) {
            #expect(said.contains(expected), "\(said)")
        }
    }

    /// A confirmation to one program is checked even if another program's files are complete.
    @Test func everyProgramIsChecked() {
        let (here, gone) = (CutCase.waited("w/f", CutCase.old), CutCase.waited("v/f", CutCase.old))
        let outcome = CutCase.found(["w": .folder, "w/f": CutCase.file(CutCase.old)])
        #expect(CutJudge.failures([(here, here)], outcome).isEmpty)
        let failures = CutJudge.failures([(here, here), (gone, gone)], outcome)
        #expect(failures == ["v: missing", "v/f: missing"])
    }
}

/// A program's record, the result, and the expected verdict.
struct CutCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let told: CutRecord
    /// With an unanswered call, if there is one.
    var attempted: CutRecord?
    let outcome: CutOutcome
    /// A part of each line, in the judge's order.
    let failures: [String]

    init(
        _ description: String, _ told: CutRecord, attempted: CutRecord? = nil, _ outcome: CutOutcome,
        _ failures: String...
    ) {
        (testDescription, self.told, self.attempted) = (description, told, attempted)
        (self.outcome, self.failures) = (outcome, failures)
    }

    static let old = filled(9000, with: 1)
    static let new = filled(9000, with: 7)
    static let longer = old + filled(4000, with: 7)
    static let zeroTail = old + [UInt8](repeating: 0, count: 4000)

    private static func filled(_ count: Int, with first: UInt8) -> [UInt8] {
        (0..<count).map { first + UInt8($0 % 5) }
    }

    static func file(_ content: [UInt8], mode: UInt32 = 0o644, mark: String? = nil, inode: UInt64 = 0)
        -> FoundTree.Entry
    {
        .file(.init(content: content, attributes: .init(mode: mode, mark: mark.map { Array($0.utf8) }), inode: inode))
    }

    /// A folder with a file that `replica wait` confirmed, and the program's later changes.
    static func waited(
        _ path: String, _ content: [UInt8], then change: (inout CutRecord) -> Void = { _ in }
    ) -> CutRecord {
        var record = CutRecord()
        record.makeFolder(String(path.prefix { $0 != "/" }))
        record.makeFile(path)
        record.write(content, to: path)
        record.wait()
        change(&record)
        return record
    }

    /// The mount and the store are equal.
    static func found(
        _ entries: [String: FoundTree.Entry], store: [String: FoundTree.Entry]? = nil, kept: [[UInt8]] = [],
        unrest: [String] = [], isStoreCut: Bool = false
    ) -> CutOutcome {
        CutOutcome(
            mounts: [FoundTree(entries)], store: FoundTree(store ?? entries), kept: kept, unrest: unrest,
            isStoreCut: isStoreCut)
    }

    /// The folder with these files.
    static func holding(_ files: [String: FoundTree.Entry], isStoreCut: Bool = false, kept: [[UInt8]] = [])
        -> CutOutcome
    {
        var entries: [String: FoundTree.Entry] = ["w": .folder]
        for (name, entry) in files { entries["w/" + name] = entry }
        return found(entries, kept: kept, isStoreCut: isStoreCut)
    }

    static func after(_ change: (inout CutRecord) -> Void) -> CutRecord { waited("w/f", old, then: change) }
}
