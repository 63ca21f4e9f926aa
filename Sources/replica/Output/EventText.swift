import FoundationEssentials
import ReplicaControl

/// Events for users.
enum EventText {
    static func lines(_ event: ControlEvent) -> [String] {
        switch event {
        case .progress(let progress): [Format.progress(progress)]
        case .items(let items): items.map(StatusText.line)
        case .left(let left): left.map { "- " + StatusText.line($0) }
        case .conflicts(let conflicts): conflicts.flatMap(lines)
        case .change(let change): [line(change)]
        }
    }

    private static func lines(_ conflict: ConflictStatus) -> [String] {
        var lines = ["\(Format.path(conflict.path))  \(conflict.detail)"]
        if let copy = conflict.copy { lines.append("  local bytes in \(Format.path(copy))") }
        return lines
    }

    private static func line(_ change: ChangeEvent) -> String {
        [
            change.date.formatted(.iso8601), ReadableNames.event(change.kind), change.path.map(Format.path),
            change.detail,
        ]
        .compactMap(\.self).joined(separator: " ")
    }
}
