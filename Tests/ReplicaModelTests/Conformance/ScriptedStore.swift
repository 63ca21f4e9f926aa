import ReplicaTestSupport

@testable import ReplicaModel
@testable import Threads

/// A store whose next answers are written by a test; all other calls are answered by the store behind it.
final class ScriptedStore: StoreWrapper {
    /// A create requested by the engine.
    struct Create: Sendable {
        let memory: MemoryStore
        var template: ItemTemplate
        var fields: ItemFields
        var contents: ItemContents?
        var options: CreateOptions

        /// Lets the store behind carry it out.
        func execute() async throws(RemoteStoreError) -> StoreResult {
            try await memory.createItem(basedOn: template, fields: fields, contents: contents, options: options)
        }
    }

    /// A modify requested by the engine.
    struct Modify: Sendable {
        let memory: MemoryStore
        var template: ItemTemplate
        var base: ItemVersion
        var fields: ItemFields
        var contents: ItemContents?

        /// Lets the store behind carry it out.
        func execute() async throws(RemoteStoreError) -> StoreResult {
            try await memory.modifyItem(template, base: base, changedFields: fields, contents: contents)
        }
    }

    typealias CreateAnswer = @Sendable (Create) async throws(RemoteStoreError) -> StoreResult
    typealias ModifyAnswer = @Sendable (Modify) async throws(RemoteStoreError) -> StoreResult

    private struct Script {
        var creates: [CreateAnswer] = []
        var modifies: [ModifyAnswer] = []
    }

    let memory = MemoryStore()
    private let script = Locked(Script())

    var store: any RemoteStore { memory }

    /// Answers the next create that has no answer yet.
    func onCreate(_ answer: @escaping CreateAnswer) { script.withLock { $0.creates.append(answer) } }

    /// Answers the next modify that has no answer yet.
    func onModify(_ answer: @escaping ModifyAnswer) { script.withLock { $0.modifies.append(answer) } }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        let call = Create(memory: memory, template: template, fields: fields, contents: contents, options: options)
        guard let answer = script.withLock({ $0.creates.isEmpty ? nil : $0.creates.removeFirst() }) else {
            return try await call.execute()
        }
        return try await answer(call)
    }

    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let call = Modify(memory: memory, template: template, base: base, fields: changedFields, contents: contents)
        guard let answer = script.withLock({ $0.modifies.isEmpty ? nil : $0.modifies.removeFirst() }) else {
            return try await call.execute()
        }
        return try await answer(call)
    }
}

extension MemoryStore {
    /// Makes the next calls of `method` fail: the store receives them and does nothing.
    func fail(_ method: StoreMethod, with error: RemoteStoreError, times: Int = 1) {
        let left = Locked(times)
        setHooks(before: { (call) async throws(RemoteStoreError) in
            guard call.method == method else { return }
            let strikes = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if strikes { throw error }
        })
    }

    /// Holds back the calls of `method`, before they are executed, until the barrier is lifted.
    func hold(_ method: StoreMethod, at barrier: Barrier) {
        setHooks(before: { (call) async throws(RemoteStoreError) in
            if call.method == method { try await barrier.pass() }
        })
    }
}

extension ContentSink {
    func write(_ bytes: [UInt8], at offset: Int64) throws(RemoteStoreError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(RemoteStoreError) in
            try write(UnsafeRawBufferPointer(bytes), at: offset)
        }
    }
}

/// Suspends all callers until it is lifted.
final class Barrier: Sendable {
    private let isLifted = Locked(false)

    func lift() { isLifted.withLock { $0 = true } }

    /// - Throws: ``RemoteStoreError/cancelled`` when the waiting task is.
    func pass() async throws(RemoteStoreError) {
        while !isLifted.withLock({ $0 }) {
            do {
                try await Task.sleep(for: .milliseconds(2))
            } catch {
                throw .cancelled
            }
        }
    }
}
