import PathStore
import ReplicaModel
import Threads

/// Listings whose next page may be asked for: what leads to it may be longer than a page's text, and is the server's.
final class OpenListings: Sendable {
    struct Place: Sendable {
        /// What is left of the last page.
        var rest: [PathEntry] = []
        /// What leads to the server's next page; nil after the last.
        var token: String?
    }

    private struct State {
        var count: UInt64 = 0
        var places: [UInt64: Place] = [:]
    }

    private static let most = 256
    private let state = Locked(State())

    /// Keeps a place; those that nobody asked for since are forgotten.
    func keep(_ place: Place) -> EnumerationPage {
        let number = state.withLock { state in
            state.count += 1
            state.places[state.count] = place
            if state.places.count > Self.most, let oldest = state.places.keys.min() { state.places[oldest] = nil }
            return state.count
        }
        return EnumerationPage(bytes: Array("\(number)".utf8))
    }

    /// - Returns: Nil for a place that is not known any more.
    func take(_ page: EnumerationPage) -> Place? {
        guard let number = UInt64(String(decoding: page.bytes, as: UTF8.self)) else { return nil }
        return state.withLock { $0.places.removeValue(forKey: number) }
    }
}
