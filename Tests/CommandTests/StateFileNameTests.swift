import ReplicaControl
import SystemPackage
import Testing

@testable import ReplicaModel

/// `replica` knows a domain's files without the model: both have the same names for them.
@Suite struct StateFileNameTests {
    @Test func namesEqualThoseOfTheModel() {
        let folders = StateFolders(root: "/state")
        let named: [(StateFileName, FilePath)] = [
            (.tree, folders.tree), (.staging, folders.staging), (.kept, folders.kept), (.deleted, folders.deleted),
            (.record, folders.settings), (.database, folders.database), (.lock, folders.lock), (.mark, folders.mark),
            (.removal, folders.removalRecord), (.reserve, folders.reserve),
        ]
        for (entry, path) in named { #expect(path == FilePath("/state").appending(entry.rawValue)) }
        #expect(Set(named.map(\.0) + [.log, .previousLog]) == Set(StateFileName.allCases))
    }
}
