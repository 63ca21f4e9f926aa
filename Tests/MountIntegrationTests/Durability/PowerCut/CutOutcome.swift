/// The state after a power cut, when everything is mounted again and settled.
struct CutOutcome: Sendable {
    /// The trees of the domains.
    var mounts: [FoundTree]
    var store: FoundTree
    /// The contents that were preserved outside the trees.
    var kept: [[UInt8]] = []
    /// Everything in `replica status` that does not mean idle.
    var unrest: [String] = []
    /// Whether the store's disk was cut too.
    var isStoreCut: Bool
}

/// A content after a power cut, compared with the possible ones.
struct Remains {
    /// The ranges in which a zero may replace a written byte.
    enum Zeros: Equatable {
        case nowhere
        /// Starting at this offset.
        case after(Int)
        /// The end may be missing too.
        case anywhere
    }

    /// The unit in which a filesystem writes.
    private static let block = 4096

    /// Whether each block belongs to one of the contents.
    static func isBlend(_ found: [UInt8], of contents: [[UInt8]], _ zeros: Zeros) -> Bool {
        let sizes = contents.map(\.count)
        guard found.count <= sizes.max() ?? 0, zeros == .anywhere || found.count >= sizes.min() ?? 0 else {
            return false
        }
        return stride(from: 0, to: found.count, by: block).allSatisfy { start in
            let range = start..<min(found.count, start + block)
            return contents.contains { content in
                range.allSatisfy { index in
                    if index < content.count, found[index] == content[index] { return true }
                    guard found[index] == 0 else { return false }
                    switch zeros {
                    case .nowhere: return false
                    case .after(let end): return index >= content.count && index >= end
                    case .anywhere: return true
                    }
                }
            }
        }
    }
}
