import ReplicaModel

/// Identifies the directory of an anchor: `ANCHOR@IDENTITY:GENERATION`.
struct AnchorSignature {
    var identity: String
    var generation: RootGeneration

    init(identity: String, generation: RootGeneration) { (self.identity, self.generation) = (identity, generation) }

    /// - Returns: Nil if the anchor is not signed.
    init?(of anchor: SyncAnchor) {
        let parts = anchor.bytes.split(separator: UInt8(ascii: "@"), maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let words = String(decoding: parts[1], as: UTF8.self).split(separator: ":", maxSplits: 1)
        guard let identity = words.first else { return nil }
        self.identity = String(identity)
        generation = RootGeneration(number: words.count == 2 ? UInt64(words[1]) ?? 0 : 0)
    }

    func sign(_ anchor: SyncAnchor) -> SyncAnchor {
        SyncAnchor(bytes: anchor.bytes + Array("@\(identity):\(generation)".utf8))
    }

    /// A signed anchor without its signature.
    static func anchor(in signed: SyncAnchor) -> SyncAnchor {
        SyncAnchor(bytes: Array(signed.bytes.prefix { $0 != UInt8(ascii: "@") }))
    }
}
