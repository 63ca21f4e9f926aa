import Logging
import ReplicaControl
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

@Suite struct StoreFactoryTests {
    /// `-v`: the log contains each call of the store, without names.
    @Test(arguments: [Logger.Level.debug, .warning])
    func aVerboseDaemonLogsTheCallsOfItsStore(level: Logger.Level) async throws {
        let folder = try TemporaryFolder()
        let log = LogLines()
        let store = StoreFactory.reopen(
            try StoreURL("file://\(folder.path)"), state: FilePath("/nowhere"), credentials: nil, log.logger(level))
        _ = try await store.item(.root)
        #expect(log.text.contains("store call item=replica:root method=item") == (level == .debug))
    }
}
