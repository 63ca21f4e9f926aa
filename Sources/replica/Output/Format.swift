import Foundation
import ReplicaControl

/// Numbers and times for people.
enum Format {
    /// `0 B`, `12.3 MiB`.
    static func bytes(_ count: Int64) -> String {
        var value = Double(count)
        var units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][...]
        while value >= 1024, units.count > 1 {
            value /= 1024
            units.removeFirst()
        }
        let unit = units.first ?? "B"
        return unit == "B" ? "\(count) B" : String(format: "%.1f %@", value, unit)
    }

    /// `42 s`, `3 min`, `5 h`.
    static func seconds(_ seconds: Double) -> String {
        switch seconds {
        case ..<90: "\(Int(seconds.rounded(.up))) s"
        case ..<5400: "\(Int((seconds / 60).rounded())) min"
        default: "\(Int((seconds / 3600).rounded())) h"
        }
    }

    /// `1 item`, `2 items`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `12 of 300 items, 1.0 MiB of 2.0 GiB, 3.0 MiB/s, 11 min left`.
    static func progress(_ progress: TransferProgress) -> String {
        var parts = ["\(progress.itemsDone) of \(count(progress.itemsTotal, "item"))"]
        if progress.bytesTotal > 0 { parts.append("\(bytes(progress.bytesDone)) of \(bytes(progress.bytesTotal))") }
        if progress.bytesPerSecond > 0 { parts.append("\(bytes(Int64(progress.bytesPerSecond)))/s") }
        if progress.itemsPerSecond > 0 { parts.append(String(format: "%.0f items/s", progress.itemsPerSecond)) }
        if let left = progress.secondsLeft { parts.append("\(seconds(left)) left") }
        return parts.joined(separator: ", ")
    }

    /// A path with control characters shown as `?`, for a terminal obeys them.
    static func path(_ bytes: [UInt8]) -> String {
        String(
            String.UnicodeScalarView(
                String(decoding: bytes, as: UTF8.self).unicodeScalars.map {
                    $0.properties.generalCategory == .control ? "?" : $0
                }))
    }

    /// An item's path.
    static func path(_ path: ControlPath) -> String {
        path.bytes.isEmpty ? "." : self.path(path.bytes)
    }
}
