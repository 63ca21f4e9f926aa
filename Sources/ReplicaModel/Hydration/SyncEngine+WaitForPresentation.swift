extension SyncEngine {
    /// Waits until the kernel knows the size of a file that has just got newer content from the store. It may need pages that
    /// this reader has locked for that, but not until it has the size.
    func waitForPresentation(of number: ItemNumber, seconds: Double) async {
        let end = replica.now() + seconds
        while replica.withTree({ $0.presentations.isTellingContent(of: number) }), replica.now() < end {
            do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
        }
    }

    /// For a caller that may hold locks of the file's pages.
    static let presentationSeconds = 0.1
}
