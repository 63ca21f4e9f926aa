internal import GRDB
package import SystemPackage
internal import Threads

extension Domain {
    /// Offers an item and everything known below it to the store again: their identifiers are no longer valid, the
    /// store may have them already (statements 27 to 39). Returns when the reimport has begun. When everything was
    /// sent, the store's ``RemoteStore/importDidFinish()`` is called, once for all overlapping imports.
    /// - Throws: ENOENT for an unknown item, for example in a folder that was never listed (statement 34); EIO if the
    ///   database can't be written.
    package func reimport(below path: [FileName]) async throws(Errno) {
        let held = try await hold(path, listing: false)
        defer { release(held) }
        do {
            try engine.beginReimport(held.number)
        } catch {
            throw Errno(state: error)
        }
        markForReimport(held.number)
    }

    /// Continues the reimports of an earlier run.
    func resumeReimports() {
        for number in engine.replica.begunReimports() {
            engine.state.withLock { $0.reimports += 1 }
            markForReimport(number)
        }
    }

    private func markForReimport(_ number: ItemNumber) {
        let engine = engine
        engine.background.start { await BlockingWork.run { engine.markForReimport(number) }.value }
    }
}
