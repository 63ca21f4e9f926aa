/// What is found after a power cut, when all is mounted again and waited for.
struct CutOutcome: Sendable {
    /// What the domains show, one of them or more.
    var mounts: [FoundTree]
    var store: FoundTree
    /// The contents that were preserved beside the trees.
    var kept: [[UInt8]] = []
    /// What `replica status` says that isn't that all is at rest.
    var unrest: [String] = []
    /// Whether the store's disk was cut too.
    var isStoreCut: Bool
}

/// A content after a power cut, compared with those that it may be.
struct Remains {
    /// Where a zero may stand for a byte that was written.
    enum Zeros: Equatable {
        case nowhere
        /// From this offset on.
        case after(Int)
        /// And the end may be missing.
        case anywhere
    }

    /// What a filesystem writes at once.
    private static let block = 4096

    /// Whether each block is that of one of the contents.
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
