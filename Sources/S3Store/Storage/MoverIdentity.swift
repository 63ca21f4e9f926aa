import Foundation

/// An identity that distinguishes the copies made by this store's moves from those of other machines that move the same
/// objects.
enum MoverIdentity {
    private static let length = 32

    /// The identity that is stored in a folder; random the first time. If it is lost, an interrupted move is not
    /// continued, and the object stays at two places.
    /// - Parameter folder: The store's folder; nil for an identity of this storage object only.
    static func kept(in folder: String?) -> String {
        let url = folder.map { URL(filePath: $0 + "/mover") }
        if let url, let kept = read(url) { return kept }
        let fresh = (0..<length).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
        guard let url else { return fresh }
        // A failure to write is ignored.
        try? Data(fresh.utf8).write(to: url, options: .atomic)
        // Another storage may have written one to the same folder at the same time.
        return read(url) ?? fresh
    }

    private static func read(_ url: URL) -> String? {
        guard let data = try? Data(contentsOf: url), data.count == length else { return nil }
        return String(bytes: data, encoding: .utf8)
    }
}
