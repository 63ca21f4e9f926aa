public import Logging

/// A store whose calls are logged: successes at `debug`, failures at `notice`.
///
/// Only methods, identifiers and error codes are written: names, contents and error texts may be secret.
public struct LoggedStore: StoreWrapper {
    public let store: any RemoteStore
    private let logger: Logger

    /// Logs the calls of `store` to `logger`.
    public init(_ store: any RemoteStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    public func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        let start = ContinuousClock.now
        do {
            let result = try await body()
            logger.debug("store call", metadata: metadata(method, identifier, start, nil))
            return result
        } catch {
            logger.notice("store call failed", metadata: metadata(method, identifier, start, error))
            throw error
        }
    }

    public func importDidFinish() async {
        logger.debug("store call", metadata: ["method": "importDidFinish"])
        await store.importDidFinish()
    }

    private func metadata(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, _ start: ContinuousClock.Instant,
        _ error: RemoteStoreError?
    ) -> Logger.Metadata {
        let duration = (ContinuousClock.now - start).components
        let milliseconds = duration.seconds * 1_000 + duration.attoseconds / 1_000_000_000_000_000
        var metadata: Logger.Metadata = ["method": "\(method.rawValue)", "ms": "\(milliseconds)"]
        if let identifier { metadata["item"] = "\(identifier)" }
        if let error { metadata["error"] = "\(error.code)" }
        return metadata
    }
}
