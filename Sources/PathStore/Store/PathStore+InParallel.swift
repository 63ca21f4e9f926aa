internal import ReplicaModel

extension PathStore {
    /// Calls `body` for each element, with the storage's concurrency.
    func inParallel<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) async throws(RemoteStoreError) -> Void
    ) async throws(RemoteStoreError) {
        let limit = properties.concurrency
        let failure = await withTaskGroup(of: RemoteStoreError?.self) { group in
            var (next, failure): (Int, RemoteStoreError?) = (0, nil)
            func start() {
                let element = elements[next]
                next += 1
                group.addTask {
                    do throws(RemoteStoreError) {
                        try await body(element)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            while next < min(limit, elements.count) { start() }
            while let answer = await group.next() {
                failure = failure ?? answer
                if failure == nil, next < elements.count { start() }
            }
            return failure
        }
        if let failure { throw failure }
    }
}
