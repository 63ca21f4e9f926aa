import Foundation
package import Logging
import ReplicaModel
package import SystemPackage

/// A store of a process, by the level of its protocol.
package enum OpenedStore: Sendable {
    /// Knows only paths.
    case path(ProcessStorage)
    /// Has identifiers and a feed.
    case item(ProcessItemStore)

    /// Starts a store's program and waits for its greeting.
    /// - Parameters:
    ///   - url: The store's URL.
    ///   - folder: An existing folder of ours, in which `spool` and `store` are created for the store.
    ///   - secrets: The secrets for its login.
    ///   - renewed: Reads them again, after the server has rejected them; nil if that fails.
    package static func open(
        _ program: StoreProgram, url: String, folder: FilePath, options: [String: String] = [:],
        secrets: [String: String] = [:], renewed: (@Sendable () async -> [String: String]?)? = nil,
        limits: ProcessLimits = ProcessLimits(), log: Logger
    ) async throws(StoreFailure) -> OpenedStore {
        let own = folder.appending("store")
        let spool: SpoolFolder
        do throws(Errno) {
            if mkdir(own.string, 0o700) != 0, errno != EEXIST { throw Errno(rawValue: errno) }
            spool = try SpoolFolder(folder.appending("spool"))
        } catch {
            throw .unreachable("the store's folders in \(folder) can't be created: \(error)")
        }
        let greeting = HelloLine(
            url: url, spool: spool.path.string, state: own.string, options: options, secrets: secrets)
        let runner = ProcessRunner(
            program, greeting: greeting, spool: spool, limits: limits, log: log, secrets: renewed)
        let (_, hello) = try await runner.running()
        let caller = StoreCaller(runner, hello)
        switch hello.level {
        case .path(let properties): return .path(ProcessStorage(caller, properties))
        case .item(let properties): return .item(ProcessItemStore(caller, properties))
        }
    }

    /// Why it can't be used now, in one line, as far as it is known.
    package var trouble: String? {
        switch self {
        case .path(let storage): storage.trouble
        case .item(let store): store.trouble
        }
    }

    /// Releases the process; returns when it has ended.
    package func close() async {
        switch self {
        case .path(let storage): await storage.close()
        case .item(let store): await store.close()
        }
    }
}
