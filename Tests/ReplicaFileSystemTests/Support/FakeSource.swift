import Glibc
import ReplicaFileSystem
import ReplicaModel
import SystemPackage

/// A store controlled by a test: requested content arrives when the test releases it.
final class FakeSource: ContentSource, ItemStatusSource, @unchecked Sendable {  // The mutex guards the state.
    private var mutex = pthread_mutex_t()
    private var requests = 0
    private var answer: (@Sendable (ItemNumber, Range<Int64>?) async throws(Errno) -> Void)?
    private var pins: [ItemNumber: [UInt8]] = [:]

    init() { pthread_mutex_init(&mutex, nil) }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(&mutex)
        defer { pthread_mutex_unlock(&mutex) }
        return body()
    }

    /// How often something was asked for.
    var asked: Int { locked { requests } }

    func onRequest(_ answer: @escaping @Sendable (ItemNumber, Range<Int64>?) async throws(Errno) -> Void) {
        locked { self.answer = answer }
    }

    func list(_ folder: ItemNumber) async throws(Errno) {
        try await request(folder, nil)
    }

    func hydrate(_ file: ItemNumber, range: Range<Int64>?) async throws(Errno) {
        try await request(file, range)
    }

    func revalidate(_ file: ItemNumber) async {}

    func read(
        _ file: ItemNumber, _ wanted: Range<Int64>, ahead: Range<Int64>
    ) async throws(Errno) -> UncachedBytes? {
        try await request(file, ahead)
        return nil
    }

    func usage() -> StoreUsage? { nil }

    private func request(_ number: ItemNumber, _ range: Range<Int64>?) async throws(Errno) {
        let answer = locked {
            requests += 1
            return self.answer
        }
        guard let answer else { throw Errno(rawValue: EHOSTUNREACH) }
        try await answer(number, range)
    }

    func value(of attribute: String, for item: ItemNumber) -> [UInt8]? {
        switch attribute {
        case "state": Array("materialized".utf8)
        case "pin": locked { pins[item] }
        default: nil
        }
    }

    func setPin(_ value: [UInt8]?, of item: ItemNumber) throws(Errno) {
        guard value != Array("nonsense".utf8) else { throw .invalidArgument }
        locked { pins[item] = value }
    }
}
