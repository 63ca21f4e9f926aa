package import PathStore
package import ReplicaModel
internal import Threads

/// Listings whose next page may be requested: the server's token for it may be longer than a page's text.
package final class OpenListings: Sendable {
    /// The position in a listing.
    package struct Place: Sendable {
        /// The rest of the last page.
        package var rest: [PathEntry]
        /// The server's token for the next page; nil after the last.
        package var token: String?
        /// What is left out since the last page.
        package var leftOut: LeftOutNames

        /// At the beginning, or with entries left.
        package init(rest: [PathEntry] = [], token: String? = nil, leftOut: LeftOutNames = LeftOutNames()) {
            (self.rest, self.token, self.leftOut) = (rest, token, leftOut)
        }
    }

    private struct State {
        var count: UInt64 = 0
        var places: [UInt64: Place] = [:]
    }

    private static let most = 256
    /// The maximum number of bytes of the paths in one page.
    private static let longestPage = 256 << 10
    private let state = Locked(State())

    /// No listings yet.
    package init() {}

    /// As much of a listing as fits into one answer; the rest is kept.
    package func page(of place: Place) -> PathPage {
        var (count, size) = (0, 0)
        for entry in place.rest {
            size += entry.path.names.reduce(200) { $0 + $1.bytes.count + 1 }
            if case .symlink(let target) = entry.kind { size += target.count }
            if count > 0, size > Self.longestPage { break }
            count += 1
        }
        var left = place
        left.rest.removeFirst(count)
        left.leftOut = LeftOutNames()
        let isLast = left.rest.isEmpty && left.token == nil
        return PathPage(
            entries: Array(place.rest.prefix(count)), next: isLast ? nil : keep(left), leftOut: place.leftOut)
    }

    /// Keeps a position; positions that were not requested for a while are dropped.
    private func keep(_ place: Place) -> EnumerationPage {
        let number = state.withLock { state in
            state.count += 1
            state.places[state.count] = place
            if state.places.count > Self.most, let oldest = state.places.keys.min() { state.places[oldest] = nil }
            return state.count
        }
        return EnumerationPage(bytes: Array("\(number)".utf8))
    }

    /// The position at which a page begins.
    /// - Returns: Nil for a position that is no longer known.
    package func take(_ page: EnumerationPage) -> Place? {
        guard let number = UInt64(String(decoding: page.bytes, as: UTF8.self)) else { return nil }
        return state.withLock { $0.places.removeValue(forKey: number) }
    }
}
