import ReplicaFileSystem
import Testing

/// Each call has the same outcome on the mount as on the backing disk: result, errno, and the status afterwards.
@Suite struct LikeNativeTests {
    private static var uncached: FileSystemOptions {
        var options = FileSystemOptions()
        options.usesPassthrough = false
        return options
    }

    @Test func namesBehaveAsOnTheDisk() async throws {
        try await withMount { Scenario.compare(NameScenarios.all, $0, $1) }
    }

    @Test func attributesBehaveAsOnTheDisk() async throws {
        try await withMount { Scenario.compare(AttributeScenarios.all, $0, $1) }
    }

    @Test func dataBehavesAsOnTheDisk() async throws {
        try await withMount { Scenario.compare(DataScenarios.all, $0, $1) }
    }

    @Test("attributes, served by the daemon") func attributesBehaveAsOnTheDiskWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(AttributeScenarios.all, $0, $1) }
    }

    @Test("data, served by the daemon") func dataBehavesAsOnTheDiskWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(DataScenarios.all, $0, $1) }
    }

    @Test func privilegesBehaveAsOnTheDisk() async throws {
        try await withMount { Scenario.compare(PrivilegeScenarios.all, $0, $1) }
    }

    @Test("privileges, served by the daemon") func privilegesBehaveAsOnTheDiskWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(PrivilegeScenarios.all, $0, $1) }
    }

    @Test func flagsBehaveAsOnTheDisk() async throws {
        try await withMount { Scenario.compare(FlagScenarios.all, $0, $1) }
    }

    @Test("flags, served by the daemon") func flagsBehaveAsOnTheDiskWithoutPassthrough() async throws {
        try await withMount(Self.uncached) { Scenario.compare(FlagScenarios.all, $0, $1) }
    }

    @Test func unnamedFilesBehaveAsOnTheDisk() async throws {
        try await withMount { Scenario.compare(UnnamedScenarios.all, $0, $1) }
    }

    @Test("files without a name, served by the daemon") func unnamedFilesBehaveAsOnTheDiskWithoutPassthrough()
        async throws
    {
        try await withMount(Self.uncached) { Scenario.compare(UnnamedScenarios.all, $0, $1) }
    }
}
