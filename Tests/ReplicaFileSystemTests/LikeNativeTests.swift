import ReplicaFileSystem
import Testing

/// Each call has the same outcome on the mount as on the backing disk: result, errno, and the status afterwards.
@Suite struct LikeNativeTests {
    private static var uncached: FileSystemOptions {
        var options = FileSystemOptions()
        options.usesPassthrough = false
        return options
    }

    @Test func names() async throws {
        try await withMount { Scenario.compare(NameScenarios.all, $0, $1) }
    }

    @Test func attributes() async throws {
        try await withMount { Scenario.compare(AttributeScenarios.all, $0, $1) }
    }

    @Test func data() async throws {
        try await withMount { Scenario.compare(DataScenarios.all, $0, $1) }
    }

    @Test("attributes, served by the daemon") func attributesWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(AttributeScenarios.all, $0, $1) }
    }

    @Test("data, served by the daemon") func dataWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(DataScenarios.all, $0, $1) }
    }

    @Test func privileges() async throws {
        try await withMount { Scenario.compare(PrivilegeScenarios.all, $0, $1) }
    }

    @Test("privileges, served by the daemon") func privilegesWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(PrivilegeScenarios.all, $0, $1) }
    }

    @Test func flags() async throws {
        try await withMount { Scenario.compare(FlagScenarios.all, $0, $1) }
    }

    @Test("flags, served by the daemon") func flagsWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(FlagScenarios.all, $0, $1) }
    }

    @Test func filesWithoutAName() async throws {
        try await withMount { Scenario.compare(UnnamedScenarios.all, $0, $1) }
    }

    @Test("files without a name, served by the daemon") func filesWithoutANameWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(UnnamedScenarios.all, $0, $1) }
    }
}
