import HTTPStorage
import PathStore
import ReplicaTestSupport
import Testing

@testable import S3Store

/// The keys of a virtual machine's role, from its metadata service.
@Suite struct MachineKeyTests {
    private static func environment(_ place: String, _ more: [String: String] = [:]) -> [String: String] {
        // A proxy would not answer.
        let common = ["HOME": "/nonexistent", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://\(place)/"]
        return common.merging(more) { $1 }
    }

    /// - Parameter timeLimit: Long, unless nobody answers: a busy machine may take as long.
    private static func find(
        _ url: String, _ environment: [String: String], timeLimit: Duration = .seconds(600)
    ) async throws(ServerFailure) -> S3Account {
        guard let address = try? S3Address(url) else { throw .refused(url) }
        return try await S3Account.find(address, secrets: [:], environment: environment, timeLimit: timeLimit)
    }

    @Test func machineKeysAreTheLastResort() async throws {
        let server = try ServingProgram("metadata-server", ["machine", "its secret", "its token"])
        let place = try #require(server.values["METADATA"])
        let own = try await Self.find("bucket", Self.environment(place))
        #expect(
            own.credentials == S3Credentials(accessKey: "machine", secretKey: "its secret", sessionToken: "its token"))
        let keys = ["AWS_ACCESS_KEY_ID": "environment", "AWS_SECRET_ACCESS_KEY": "secret"]
        let nearer = try await Self.find("bucket", Self.environment(place, keys))
        #expect(nearer.credentials.accessKey == "environment")
        await #expect(throws: S3Account.noKeys) {
            _ = try await Self.find("bucket", Self.environment(place, ["AWS_EC2_METADATA_DISABLED": "TRUE"]))
        }
        // Nobody is there, or somebody who does not answer: the reason is that there are no keys, in bounded time.
        for other in ["127.0.0.1:1", try #require(server.values["SILENT"])] {
            await #expect(throws: S3Account.noKeys) {
                _ = try await Self.find("bucket", Self.environment(other), timeLimit: .milliseconds(100))
            }
        }
        try server.stop()
    }

    /// On Ceph, with its keys.
    @Test func machineKeysOpenABucket() async throws {
        try await S3Scratch.run { scratch in
            let keys = S3Server.credentials
            let server = try ServingProgram("metadata-server", [keys.accessKey, keys.secretKey, ""])
            let environment = Self.environment(try #require(server.values["METADATA"]))
            let url = "\(scratch.bucket)?endpoint=\(scratch.server.endpoint)"
            let storage = try await S3Storage.open(try S3Address(url)) { () async throws(ServerFailure) in
                try await Self.find(url, environment)
            }
            try await scratch.write("file", "text")
            let entry = try await storage.entry(at: scratch.path("file"))
            #expect(entry?.size == 4)
            storage.close()
            try server.stop()
        }
    }
}
