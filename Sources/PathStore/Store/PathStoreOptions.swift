/// How often a ``PathStore`` compares, and by which clock.
package struct PathStoreOptions: Sendable {
    /// The maximum age of the last comparison of a recently used folder, in seconds.
    package var openIntervalSeconds = 30.0
    /// The maximum age of the last comparison of any listed folder, in seconds.
    package var wholeIntervalSeconds = 3_600.0
    /// How long a folder counts as recently used, in seconds.
    package var openForSeconds = 600.0
    /// The maximum number of folders listed in one pass; the others follow in the next ones, those not listed for
    /// longest first.
    package var mostFolders = 1_000
    /// The maximum number of entries of a folder; a larger folder is an error of that folder.
    package var mostEntries = 1_000_000
    /// Whether the user is asked if all known items of the root are gone, so that an unmounted disk or another bucket
    /// deletes nothing. True in every domain; false in tests that remove everything.
    package var asksAboutRoot = false
    /// Nanoseconds of a clock that never goes back during the store's life.
    package var now: @Sendable () -> Int64
    /// A number for an item, at least 1: random, so that no two tables assign the same.
    package var identifier: @Sendable () -> Int64 = { .random(in: 1 ... .max) }
    /// Waits for so many nanoseconds of that clock, or until the task is cancelled.
    package var sleep: @Sendable (Int64) async -> Void

    /// The defaults of a domain's store.
    package static var ofDomain: PathStoreOptions {
        var options = PathStoreOptions()
        options.asksAboutRoot = true
        return options
    }

    /// The default intervals, by the machine's clock.
    package init() {
        let start = ContinuousClock.now
        now = {
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
        // A cancelled task does not wait, and notices it at its next call.
        sleep = { try? await Task.sleep(nanoseconds: UInt64(max(0, $0))) }
    }

    /// The default clock without caching: each request for changes lists all listed folders.
    package static var alwaysListing: PathStoreOptions {
        var options = PathStoreOptions()
        (options.openIntervalSeconds, options.wholeIntervalSeconds) = (0, 0)
        return options
    }
}
