/// The files that `remove` left on disk.
package struct RemovalResult: Codable, Equatable, Sendable {
    /// The folder of the preserved files; nil if there were none.
    package var preserved: ControlFilePath?
    /// The number of files below it.
    package var files: Int

    /// The result of one request.
    package init(preserved: ControlFilePath?, files: Int) {
        self.preserved = preserved
        self.files = files
    }
}
