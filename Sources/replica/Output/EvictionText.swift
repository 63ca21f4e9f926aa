import ReplicaControl

/// What an eviction did, for users.
enum EvictionText {
    /// The result, and each item that was not evicted, with the reason.
    static func lines(_ result: EvictionResult, _ done: String) -> [String] {
        ["\(Format.count(result.items, "item")) \(done), \(Format.bytes(result.bytes)) freed"]
            + result.refused.map { "\(Format.path($0.path)) was not evicted: \($0.message)" }
    }
}
