import ReplicaControl
import ReplicaTestSupport
import SystemPackage
import Testing

/// CONFORMANCE.md: the statements about the list of domains.
@Suite struct DomainListStatementTests {
    @Test func statement24_allDomainsAreListedAndNoOthers() throws {
        let folder = try TemporaryFolder()
        for name in ["one", "two", "three"] { _ = try FakeDomain(name, in: folder) }
        let elsewhere = try TemporaryFolder()
        _ = try FakeDomain("theirs", in: elsewhere)
        let listed = try DomainDirectory(root: folder.path.appending("replica")).domains()
        #expect(listed.map(\.name.text) == ["one", "three", "two"])
    }
}
