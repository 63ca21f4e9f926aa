import ChildProcess
package import PathStore
package import ReplicaModel

extension StoragePath {
    /// The path in the protocol: `/` and the names, separated by `/`.
    package var wire: WireText {
        WireText([UInt8(ascii: "/")] + names.map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
    }

    /// The path of a store's text; nil if it does not begin with `/`. Its names are not checked and may be empty.
    package init?(wire: WireText) {
        guard wire.bytes.first == UInt8(ascii: "/") else { return nil }
        let rest = wire.bytes.dropFirst()
        guard !rest.isEmpty else {
            self = .root
            return
        }
        let names = rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        self.init(names.map { FileName(bytes: Array($0)) })
    }

    /// The text for a log or a message.
    var words: String { SanitizedText.of(String(decoding: wire.bytes, as: UTF8.self), longest: 300) }
}

extension Timestamp {
    /// The time in the protocol.
    package var wire: [Int64] { [seconds, subsecond] }

    /// - Returns: Nil if it is not valid.
    package init?(wire: [Int64]) {
        guard wire.count == 2, (0...999_999_999).contains(wire[1]) else { return nil }
        self.init(seconds: wire[0], nanoseconds: wire[1])
    }
}

/// The largest number that JSON can represent in every language.
let largestNumber: Int64 = 1 << 53
