import PathStore
import ProcessStore
import ReplicaControl
import ReplicaModel
import SFTPStore
import SystemPackage

/// Stores on servers that are reached by the user's own ssh: `sftp://[user@]host[:port]/path`.
enum SFTPStoreFactory {
    static let scheme = "sftp"

    /// Connects to the server.
    /// - Parameter state: Where the parts of large files are recorded; nil if they are not.
    static func storage(
        _ url: StoreURL, credentials: FilePath?, state: FilePath? = nil
    ) async throws(StoreFailure) -> SFTPStorage {
        let address = try address(url)
        if credentials != nil {
            throw .refused("ssh logs in by itself, by a key: an sftp: URL takes no credentials=FILE")
        }
        let notes = state.map { UploadNotes(folder: $0.string) }
        do throws(SFTPFailure) { return try await SFTPStorage.open(address, notes: notes) } catch {
            throw StoreFailure(error)
        }
    }

    private static func address(_ url: StoreURL) throws(StoreFailure) -> SFTPAddress {
        do throws(SFTPAddress.Invalid) { return try SFTPAddress(url.rest) } catch { throw .refused(error.description) }
    }

    /// Asks for, creates or removes the directory of a new store.
    static func newDirectory<Value>(
        _ url: StoreURL, _ body: (NewDirectory) async throws(SFTPFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let directory = NewDirectory(try address(url))
        do throws(SFTPFailure) { return try await body(directory) } catch { throw StoreFailure(error) }
    }

    /// Opens the store of an existing domain.
    /// - Parameter state: Where ``PathStore`` keeps its data.
    static func reopen(
        _ url: StoreURL, state: FilePath, credentials: FilePath?
    ) async throws(OpeningFailure) -> OpenStore {
        do throws(StoreFailure) {
            let storage = try await storage(url, credentials: credentials, state: state)
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

    /// Reads the directory on the server, as a test before a domain is created.
    static func tryOut(_ url: StoreURL, credentials: FilePath?) async throws(StoreFailure) -> TriedStore {
        let storage = try await storage(url, credentials: credentials)
        await storage.close()
        return TriedStore(storage)
    }
}

extension StoreFailure {
    /// The failure of a server that can't be used.
    fileprivate init(_ failure: SFTPFailure) {
        switch failure {
        case .unreachable(let text): self = .unreachable(text)
        case .notAuthenticated(let text): self = .notAuthenticated(text)
        case .untrusted(let text): self = .untrustedServer(text)
        case .missing(let text): self = .refused("\(text); --create (-o create) creates it for a new domain")
        case .refused(let text): self = .refused(text)
        }
    }
}
