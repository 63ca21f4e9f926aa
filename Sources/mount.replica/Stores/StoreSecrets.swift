import ChildProcess
import ProcessStore
import ReplicaControl
import ReplicaModel
import SystemPackage

/// What a store is told in confidence, from where it is found first: the file of `credentials=`, what `replica login` keeps, and
/// for S3 the environment of Amazon's tools.
enum StoreSecrets {
    static func find(_ url: StoreURL, credentials: FilePath?) async throws(StoreFailure) -> [String: String] {
        PrivateMemory.close()
        if let credentials {
            do throws(MountUsageError) { return try CredentialsFile.read(credentials) } catch {
                throw .refused(error.message)
            }
        }
        do throws(SecretError) {
            let kept = try await kept(url).get()
            return kept.isEmpty ? AmazonKeys.secrets(of: url) : kept
        } catch {
            throw .notAuthenticated(error.message)
        }
    }

    /// On a thread of its own: a person may be asked to open their keyring.
    private static func kept(_ url: StoreURL) async -> Result<[String: String], SecretError> {
        await withCheckedContinuation { continuation in
            let find: @Sendable () -> Void = {
                let found = Result { () throws(SecretError) in try Logins.own?.secrets(for: url) ?? [:] }
                continuation.resume(returning: found)
            }
            if !BlockingWork.start(find) { find() }
        }
    }
}
