import PathStore
import ProcessStore
import ReplicaControl
import ReplicaModel
import SFTPStore
import SystemPackage

/// Stores on servers that the person's own ssh reaches: `sftp://[user@]host[:port]/path`.
enum ServerStore {
    static let scheme = "sftp"

    /// Connects to the server.
    static func storage(_ url: StoreURL, credentials: FilePath?) async throws(StoreFailure) -> SFTPStorage {
        let address: SFTPAddress
        do throws(SFTPAddress.Invalid) { address = try SFTPAddress(url.rest) } catch {
            throw .refused(error.description)
        }
        if credentials != nil {
            throw .refused("ssh logs in by itself, by a key: an sftp: URL takes no credentials=FILE")
        }
        do throws(SFTPFailure) { return try await SFTPStorage.open(address) } catch { throw StoreFailure(error) }
    }

    /// Opens the store of a domain that was there before.
    /// - Parameter state: Where ``PathStore`` keeps what it knows.
    static func reopen(
        _ url: StoreURL, state: FilePath, credentials: FilePath?
    ) async throws(OpeningFailure) -> OpenStore {
        do throws(StoreFailure) {
            let storage = try await storage(url, credentials: credentials)
            do throws(RemoteStoreError) {
                return OpenStore(
                    store: try PathStore(storage, folder: state.string, options: .ofDomain),
                    trouble: { storage.trouble },
                    close: { await storage.close() })
            } catch {
                await storage.close()
                throw .unreachable(error.message)
            }
        } catch {
            throw OpeningFailure(error)
        }
    }

    /// Looks at the server and the directory, as a test before a domain is made of it.
    static func tryOut(_ url: StoreURL, credentials: FilePath?) async throws(StoreFailure) -> TriedStore {
        let storage = try await storage(url, credentials: credentials)
        await storage.close()
        return TriedStore(storage)
    }
}

extension StoreFailure {
    /// What it means that a server can't be used.
    fileprivate init(_ failure: SFTPFailure) {
        switch failure {
        case .unreachable(let text): self = .unreachable(text)
        case .notAuthenticated(let text): self = .notAuthenticated(text)
        case .untrusted(let text): self = .untrustedServer(text)
        case .refused(let text): self = .refused(text)
        }
    }
}
