package import struct FoundationEssentials.Date

/// An event, for `watch`.
package struct ChangeEvent: Codable, Equatable, Sendable {
    /// When.
    package var date: Date
    /// The kind: `uploaded`, `downloaded`, `remoteChange`, `conflict`, `error`, `evicted`, `state`, ...
    package var kind: String
    /// The item, if it concerns one.
    package var path: ControlPath?
    /// Details in one line, if there are any.
    package var detail: String?

    /// An event about the domain, or about the item at `path`.
    package init(date: Date, kind: String, path: ControlPath? = nil, detail: String? = nil) {
        self.date = date
        self.kind = kind
        self.path = path
        self.detail = detail
    }
}
