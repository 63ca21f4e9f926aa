import Foundation

/// What tells the copies that this store's moves made from those of other machines that move the same objects.
enum MoverIdentity {
    private static let length = 32

    /// The identity that is kept in a folder, random at first. If it is lost, an interrupted move is not continued: the
    /// object is at two places then.
    /// - Parameter folder: The store's own; nil where there is none, for an identity of this storage alone.
    static func kept(in folder: String?) -> String {
        let url = folder.map { URL(filePath: $0 + "/mover") }
        if let url, let kept = read(url) { return kept }
        let fresh = (0..<length).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
        guard let url else { return fresh }
        // A disk that cannot take it is no reason to stop.
        try? Data(fresh.utf8).write(to: url, options: .atomic)
        // Another storage in the same folder may have been as quick.
        return read(url) ?? fresh
    }

    private static func read(_ url: URL) -> String? {
        guard let data = try? Data(contentsOf: url), data.count == length else { return nil }
        return String(bytes: data, encoding: .utf8)
    }
}
