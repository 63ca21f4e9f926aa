import Foundation

/// A line of the protocol that is sent to the store.
protocol OutgoingLine: Encodable {}

extension OutgoingLine {
    /// The line as it is sent, with its end.
    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        do {
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch {
            preconditionFailure("a line of ours cannot be written: \(error)")
        }
    }
}

/// The wire form of a call.
struct CallLine<Arguments: Encodable>: OutgoingLine {
    let id: Int64
    let call: String
    let with: Arguments
}

/// Tells the store that a call is no longer wanted.
struct CancelLine: OutgoingLine {
    let cancel: Int64
}
