import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import mount_replica

/// Secrets are only read from a file that other users can't read.
@Suite struct CredentialsFileTests {
    @Test(arguments: [0o600, 0o400]) func aPrivateFileIsRead(mode: Int) throws {
        let folder = try TemporaryFolder()
        try CredentialsFile.check(try folder.write("secret", to: "credentials", mode: mode))
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o620, 0o660]) func aFileAccessibleToOthersIsRefused(mode: Int) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("secret", to: "credentials", mode: mode)
        let error = #expect(throws: MountUsageError.self) { try CredentialsFile.check(file) }
        #expect(error?.message == "credentials=\(file) can be read by others: chmod 600 it")
    }

    @Test func onlyARegularFileIsRead() throws {
        let folder = try TemporaryFolder()
        let fifo = folder.path.appending("fifo")
        #expect(mkfifo(fifo.string, 0o600) == 0)
        #expect(throws: MountUsageError("credentials=\(fifo): not a file")) { try CredentialsFile.check(fifo) }
        #expect(throws: MountUsageError("credentials=\(folder.path): not a file")) {
            try CredentialsFile.check(folder.path)
        }
        #expect(throws: MountUsageError.self) { try CredentialsFile.check(folder.path.appending("missing")) }
    }
}
