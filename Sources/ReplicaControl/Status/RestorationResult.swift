/// The result of `restore`.
package struct RestorationResult: Codable, Equatable, Sendable {
    /// Items that are uploaded again.
    package var items: Int
    /// Items that are still held because their content is not local.
    package var left: Int

    /// The result of one request.
    package init(items: Int, left: Int) {
        self.items = items
        self.left = left
    }
}
