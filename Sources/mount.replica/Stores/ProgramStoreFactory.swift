import Foundation
import Glibc
import Logging
import PathStore
import ProcessStore
import ReplicaControl
import ReplicaModel
import SystemPackage

/// Stores that are separate programs.
enum ProgramStoreFactory {
    /// A store that was opened.
    struct Opened: Sendable {
        let store: any RemoteStore
        let process: OpenedStore
    }

    /// The program of a URL's scheme.
    /// - Throws: One line: the places that were searched, or why it can't be run.
    static func program(of url: StoreURL, _ search: StoreProgramSearch = .own) throws(StoreFailure) -> StoreProgram {
        let found: StoreProgram?
        do throws(UntrustedProgram) {
            found = try StoreProgram.find(in: search.places(of: url.scheme), isRoot: geteuid() == 0)
        } catch {
            throw .refused("\(error), so it is not run")
        }
        if let found { return found }
        throw .refused(
            "no store for '\(StoreURL.beginning(of: url.scheme))': there is no "
                + "\(StoreProgramSearch.program(of: url.scheme)) in \(search.words)")
    }

    /// Starts a store's program and waits for its greeting.
    /// - Parameters:
    ///   - folder: Where its own folders are created.
    ///   - credentials: A file whose lines are its secrets.
    static func process(
        _ url: StoreURL, folder: FilePath, credentials: FilePath?, _ log: Logger
    ) async throws(StoreFailure) -> OpenedStore {
        let program = try program(of: url)
        let secrets = try await StoreSecrets.find(url, credentials: credentials, state: folder)
        var limits = ProcessLimits()
        limits.isLaunched = true
        return try await OpenedStore.open(
            program, url: url.text, folder: folder, secrets: secrets,
            renewed: {
                // The store continues with the secrets that it has.
                try? await StoreSecrets.find(url, credentials: credentials, state: folder)
            }, limits: limits, log: log)
    }

    /// Starts a store and waits for its greeting.
    /// - Parameters:
    ///   - state: Where it and ``PathStore`` keep their data.
    ///   - credentials: A file whose lines are its secrets.
    static func open(
        _ url: StoreURL, state: FilePath, credentials: FilePath?, _ log: Logger
    ) async throws(StoreFailure) -> Opened {
        let process = try await process(url, folder: state, credentials: credentials, log)
        switch process {
        case .item(let store): return Opened(store: store, process: process)
        case .path(let storage):
            do throws(RemoteStoreError) {
                return Opened(store: try PathStore(storage, folder: state.string, options: .ofDomain), process: process)
            } catch {
                await process.close()
                throw .unreachable(error.message)
            }
        }
    }

    /// Opens the store of an existing domain.
    static func reopen(
        _ url: StoreURL, state: FilePath, credentials: FilePath?, _ log: Logger
    ) async throws(OpeningFailure) -> OpenStore {
        do throws(StoreFailure) {
            let opened = try await open(url, state: state, credentials: credentials, log)
            let process = opened.process
            return OpenStore(store: opened.store, trouble: { process.trouble }, close: { await process.close() })
        } catch {
            throw OpeningFailure(error)
        }
    }

    /// Reads a store's root, as a test before a domain is created.
    static func tryOut(
        _ url: StoreURL, credentials: FilePath?, _ log: Logger
    ) async throws(StoreFailure) -> TriedStore {
        let folder: ScratchFolder
        do { folder = try ScratchFolder() } catch {
            throw .unreachable("a folder in /tmp can't be created: \(error)")
        }
        defer { folder.remove() }
        let opened = try await open(url, state: folder.path, credentials: credentials, log)
        let outcome = await rootFailure(of: opened)
        await opened.process.close()
        if let outcome { throw outcome }
        var tried = TriedStore(properties: opened.store.properties)
        if case .path(let storage) = opened.process { tried = TriedStore(storage) }
        tried.login = DomainLogin.place(state: folder.path)
        return tried
    }

    private static func rootFailure(of opened: Opened) async -> StoreFailure? {
        switch opened.process {
        case .path(let storage):
            do throws(PathStorageError) {
                return try await storage.entry(at: .root) == nil ? .refused("there is nothing at this URL") : nil
            } catch {
                return StoreFailure(error)
            }
        case .item(let store):
            do throws(RemoteStoreError) { _ = try await store.item(.root) } catch { return .unreachable(error.message) }
            return nil
        }
    }
}

extension OpeningFailure {
    /// The failure of a store that can't be used now.
    init(_ failure: StoreFailure) {
        var error = RemoteStoreError.serverUnreachable
        if case .notAuthenticated = failure { error = .notAuthenticated }
        if case .busy(let pause, _) = failure { error = .busy(seconds: pause) }
        self.init(error: error, message: failure.message)
    }
}

extension StoreFailure {
    /// The failure for an error at a store's root.
    init(_ error: PathStorageError) {
        switch error {
        case .notAuthenticated(let text): self = .notAuthenticated(text)
        case .refused(let text), .unsupported(let text): self = .refused(text)
        case .unreachable(let text), .unavailable(let text), .insufficientQuota(let text), .readOnly(let text):
            self = .unreachable(text)
        case .busy(let pause): self = .busy(pause, "the server is busy")
        case .notFound, .taken, .changed, .notEmpty, .cancelled: self = .unreachable("the store can't be reached")
        }
    }
}
