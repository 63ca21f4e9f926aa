import ChildProcess
import ProcessStore
import ReplicaControl
import ReplicaModel
import SystemPackage
import Threads

/// The secrets of a store, from the first of these that has them: the file of `credentials=`, what `replica login` keeps, and
/// for S3 the environment of Amazon's tools.
enum StoreSecrets {
    /// - Parameter state: The domain's, where the login that it used last is noted.
    static func find(
        _ url: StoreURL, credentials: FilePath?, state: FilePath
    ) async throws(StoreFailure) -> [String: String] {
        PrivateMemory.close()
        if let credentials {
            do throws(MountUsageError) { return try CredentialsFile.read(credentials) } catch {
                throw .refused(error.message)
            }
        }
        do throws(SecretError) {
            guard let kept = try await kept(url, state).get(), !kept.secrets.isEmpty else {
                return AmazonKeys.secrets(of: url)
            }
            DomainLogin.note(kept.place, state: state)
            return kept.secrets
        } catch {
            throw .notAuthenticated(error.message)
        }
    }

    /// Whether the last look for a login found none that can be used. Nobody is asked to open their keyring again then: a store that
    /// can't be opened is tried again and again, and each question holds up the domain for two minutes.
    private static let hasFailed = Locked(false)

    /// On a thread of its own: the user may be prompted to unlock the keyring.
    private static func kept(_ url: StoreURL, _ state: FilePath) async -> Result<Logins.Kept?, SecretError> {
        await withCheckedContinuation { continuation in
            let find: @Sendable () -> Void = {
                let mayAsk = !hasFailed.withLock { $0 }
                let found = Result { () throws(SecretError) in
                    try Logins.own?.find(url, last: DomainLogin.place(state: state), mayAsk: mayAsk)
                }
                hasFailed.withLock { $0 = if case .failure = found { true } else { false } }
                continuation.resume(returning: found)
            }
            if !BlockingWork.start(find) { find() }
        }
    }
}
