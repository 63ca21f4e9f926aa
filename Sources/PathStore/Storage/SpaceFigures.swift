package import ReplicaModel

/// A storage's space in JSON. Each number may be missing, and of any size.
package struct SpaceFigures: Codable, Sendable {
    private enum Key: String, CodingKey {
        case total, used, free
    }

    private let total, used, free: Int64?

    package init(_ usage: StoreUsage?) { (total, used, free) = (usage?.total, usage?.used, usage?.free) }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func number(_ key: Key) throws -> Int64? {
            // If it is not one of 64 bits, it may be a larger one, or a fraction.
            if let number = try? container.decodeIfPresent(Int64.self, forKey: key) { return number }
            guard let number = try container.decodeIfPresent(Double.self, forKey: key) else { return nil }
            return Int64(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
        }
        (total, used, free) = (try number(.total), try number(.used), try number(.free))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(total, forKey: .total)
        try container.encodeIfPresent(used, forKey: .used)
        try container.encodeIfPresent(free, forKey: .free)
    }

    /// Nil if it is not known.
    package var usage: StoreUsage? { StoreUsage(total: total, used: used, free: free) }
}
