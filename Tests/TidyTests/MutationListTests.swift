import Foundation
import Testing

/// The list of mutations that are known to be harmless names code that exists.
@Suite struct MutationListTests {
    @Test func eachHarmlessMutationIsInItsFile() throws {
        let list = try #require(SourceTree.document("Tools/Mutation/harmless.tsv"))
        let rows = list.split(separator: "\n").dropFirst().map { $0.split(separator: "\t") }
        #expect(rows.count > 5)
        for row in rows {
            guard row.count == 4 else {
                Issue.record("not four columns: \(row)")
                continue
            }
            let text = SourceTree.document("Sources/ReplicaModel/\(row[0])")
            #expect(text?.contains(row[2]) == true, "\(row[0]) has no \(row[2])")
        }
    }
}
