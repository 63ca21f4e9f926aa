import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaControl

/// Only a state that is private to the user is trusted.
@Suite struct StateTrustTests {
    struct Row: Sendable {
        var type = S_IFDIR
        var permissions: mode_t = 0o700
        var user: uid_t = 1000
        var part: StateTrust.Part = .state
        /// A part of the refusal, or nil.
        var says: String?
    }

    static let rows: [Row] = [
        Row(), Row(permissions: 0o500),
        Row(permissions: 0o750, says: "chmod 700"), Row(permissions: 0o701, says: "chmod 700"),
        Row(permissions: 0o1777, says: "chmod 700"), Row(user: 1001, says: "another user"),
        Row(user: 0, says: "another user"), Row(type: S_IFLNK, says: "move it away"),
        Row(type: S_IFREG, says: "move it away"),
        Row(permissions: 0o755, part: .folder), Row(user: 1001, part: .folder, says: "another user"),
        Row(type: S_IFLNK, part: .folder, says: "move it away"),
        Row(permissions: 0o755, user: 1001, part: .tree), Row(type: S_IFLNK, part: .tree, says: "move it away"),
        Row(type: S_IFREG, permissions: 0o600, part: .file), Row(type: S_IFLNK, part: .file, says: "move it away"),
        Row(type: S_IFIFO, part: .file, says: "move it away"),
        Row(type: S_IFREG, user: 1001, part: .file, says: "another user"),
    ]

    @Test(arguments: rows) func onlyPrivateEntriesAreTrusted(row: Row) {
        let entry = StateTrust.Entry(type: row.type, permissions: row.permissions, user: row.user)
        let refusal = StateTrust.refusal(entry, as: row.part, for: 1000)
        #expect((refusal == nil) == (row.says == nil), "\(row)")
        #expect(refusal?.contains(row.says ?? "-") ?? true, "\(String(describing: refusal))")
    }

    /// For user 1000 with group 100.
    @Test(
        arguments: [
            (0o755, 0, 0, nil), (0o755, 1000, 100, nil), (0o775, 1000, 100, nil), (0o1777, 0, 0, nil),
            (0o1775, 0, 7, nil), (0o755, 1001, 100, "another user"), (0o1777, 1001, 100, "another user"),
            (0o775, 1000, 7, "by others"), (0o777, 1000, 100, "by others"), (0o2775, 0, 50, "by others"),
        ] as [(mode_t, uid_t, gid_t, String?)])
    func foldersAboveMustNotBeWritableByOthers(mode: mode_t, user: uid_t, group: gid_t, says: String?) {
        let folder = StateTrust.Above(permissions: mode, user: user, group: group)
        let refusal = StateTrust.refusal(above: folder, for: 1000, groups: [100])
        #expect((refusal == nil) == (says == nil))
        #expect(refusal?.contains(says ?? "-") ?? true, "\(String(describing: refusal))")
    }

    @Test func aFolderAboveThatOthersMayChangeIsRefused() throws {
        let folder = try TemporaryFolder()
        let domain = try FakeDomain("d", in: folder)
        #expect(throws: Never.self) { try StateTrust.checkAbove(domain.state) }
        #expect(throws: Never.self) { try StateTrust.checkAbove(domain.state.appending("none").appending("none")) }
        #expect(chmod(folder.path.string, 0o777) == 0)
        let error = #expect(throws: StateTrustError.self) { try StateTrust.checkAbove(domain.state) }
        #expect(error?.path.lastComponent == folder.path.lastComponent)
    }

    @Test func theErrorNamesThePath() throws {
        let folder = try TemporaryFolder()
        let domain = try FakeDomain("d", in: folder)
        #expect(throws: Never.self) { try StateTrust.check(domain.state) }
        #expect(symlink("/etc", domain.state.appending("staging").string) == 0)
        let error = #expect(throws: StateTrustError.self) { try StateTrust.check(domain.state) }
        #expect(error?.path == domain.state.appending("staging"))
    }
}
