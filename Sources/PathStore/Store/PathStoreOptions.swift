/// How often a ``PathStore`` looks, and by which clock.
package struct PathStoreOptions: Sendable {
    /// How old the knowledge of a recently used folder may be, in seconds.
    package var openInterval = 30.0
    /// How old what is known of any listed folder may be, in seconds.
    package var wholeInterval = 3_600.0
    /// How long a folder counts as recently used, in seconds.
    package var openFor = 600.0
    /// The maximum number of folders listed in one pass; the others follow in the next ones, those not listed for
    /// longest first.
    package var mostFolders = 1_000
    /// How many entries of one folder are taken; a folder with more is an error of that folder.
    package var mostEntries = 1_000_000
    /// Whether a person is asked when nothing of what the root had is there any more, so that a disk that is not mounted, or another
    /// bucket, deletes nothing: as in every domain. Not where tests remove all.
    package var asksAboutRoot = false
    /// Nanoseconds of a clock that never goes back while the store lives.
    package var now: @Sendable () -> Int64
    /// A number for an item, from 1 on: random, so that no two tables give the same.
    package var identifier: @Sendable () -> Int64 = { .random(in: 1 ... .max) }
    /// Waits so many nanoseconds of that clock, or until the task is cancelled.
    package var sleep: @Sendable (Int64) async -> Void

    /// As a domain's store has them.
    package static var ofDomain: PathStoreOptions {
        var options = PathStoreOptions()
        options.asksAboutRoot = true
        return options
    }

    /// The usual intervals, by the machine's clock.
    package init() {
        let start = ContinuousClock.now
        now = {
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
        // A cancelled task does not wait, and finds out at its next call.
        sleep = { try? await Task.sleep(nanoseconds: UInt64(max(0, $0))) }
    }

    /// The usual clock, but nothing known is ever recent enough: each request for changes lists all listed folders.
    package static var alwaysListing: PathStoreOptions {
        var options = PathStoreOptions()
        (options.openInterval, options.wholeInterval) = (0, 0)
        return options
    }
}
