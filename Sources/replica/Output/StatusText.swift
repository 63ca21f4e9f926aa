import FoundationEssentials
import ReplicaControl

/// Status for users.
enum StatusText {
    /// A domain in a few lines.
    static func lines(_ status: DomainStatus, now: Date = Date()) -> [String] {
        var lines = [row(status.name, status.reason.map { "\(status.state.rawValue): \($0)" } ?? status.state.rawValue)]
        if let words = nextTry(status, now) { lines.append(row("  next try", words)) }
        lines.append(row("  store", status.store))
        lines.append(row("  mounted on", status.mountpoint.map { Format.path($0.bytes) } ?? "-"))
        if let held = status.heldMount { lines.append(row("  old mount", words(held))) }
        if let dead = status.deadMount { lines.append(row("  dead mount", Format.path(dead.bytes))) }
        if let pid = status.pid { lines.append(row("  daemon", "process \(pid)\(oldVersion(status))")) }
        if let items = status.items {
            var text = Format.count(items, "item")
            if let bytes = status.bytes { text += ", \(Format.bytes(bytes))" }
            if let here = status.materializedBytes { text += ", of which \(Format.bytes(here)) here" }
            lines.append(row("  contents", text))
        }
        if let pending = status.pending { lines.append(row("  pending", Format.count(pending, "item"))) }
        if let errors = status.errors, errors > 0 { lines.append(row("  errors", Format.count(errors, "item"))) }
        if let conflicts = status.conflicts, conflicts > 0 { lines.append(row("  conflicts", "\(conflicts)")) }
        if let special = status.localOnly, special > 0 {
            lines.append(row("  only here", "\(Format.count(special, "item")), not kept in the store"))
        }
        if let kept = status.kept, kept > 0 {
            lines.append(row("  kept", "\(Format.count(kept, "file")), in \(Format.path(status.directory.bytes))/kept"))
        }
        if let progress = status.progress { lines.append(row("  now", Format.progress(progress))) }
        return lines
    }

    /// A daemon continues with its own program through an upgrade: says that it is of another version, and what replaces it.
    private static func oldVersion(_ status: DomainStatus) -> String {
        guard status.version != programVersion else { return "" }
        let version = status.version.map { "version \($0)" } ?? "an older version"
        return ", of \(version), while this program is version \(programVersion): unmount and mount it to replace it"
    }

    /// The time of the next retry, and how to retry sooner.
    private static func nextTry(_ status: DomainStatus, _ now: Date) -> String? {
        let command = "'replica retry \(status.name)'"
        guard let next = status.nextTry else {
            let isParked = status.state == .idle && status.reason != nil
            guard isParked else { return nil }
            return status.pending == 0 ? "when it is read or listed again" : "after an edit, or now with \(command)"
        }
        let left = next.timeIntervalSince(now)
        return left < 1 ? "now" : "in \(Format.seconds(left)); \(command) tries now"
    }

    /// An item in a few lines.
    static func lines(_ item: ItemStatus) -> [String] {
        var lines = [row(Format.path(item.path), "\(item.kind.rawValue), \(item.state.rawValue)")]
        if item.kind == .file { lines.append(row("  size", Format.bytes(item.size))) }
        lines.append(row("  id", "\(item.id ?? "-") (number \(item.number))"))
        if item.pinned { lines.append(row("  pinned", "yes")) }
        lines.append(row("  pending", item.pending.isEmpty ? "nothing" : fields(item)))
        if let version = item.version {
            lines.append(row("  version", "content \(version.content), metadata \(version.metadata)"))
        }
        if let error = item.error {
            lines.append(row("  error", ReadableNames.error(error, withTries: true)))
            if let next = error.nextTry { lines.append(row("  next try", "\(next.formatted(.iso8601))")) }
        }
        return lines
    }

    /// An item in one line of a list.
    static func line(_ item: ItemStatus) -> String {
        var text = Format.path(item.path)
        if !item.pending.isEmpty { text += "  [\(fields(item))]" }
        if let error = item.error { text += "  \(ReadableNames.error(error, withTries: false))" }
        return text
    }

    /// An item removed from a list.
    static func line(_ departure: DepartureStatus) -> String {
        if let path = departure.path { return Format.path(path) }
        return "(gone)  " + (departure.id.map { Format.path(Array($0.utf8)) } ?? "number \(departure.number)")
    }

    private static func fields(_ item: ItemStatus) -> String {
        item.pending.map(ReadableNames.field).joined(separator: ", ")
    }

    /// A domain in one line of a list.
    static func line(_ status: DomainStatus) -> String {
        let mountpoint = (status.mountpoint ?? status.deadMount).map { Format.path($0.bytes) } ?? "-"
        return [status.name, status.state.rawValue, status.store, mountpoint].joined(separator: "\t")
    }

    private static func words(_ held: HeldMount) -> String {
        let processes = held.processes.map(String.init).joined(separator: ", ")
        let users = processes.isEmpty ? "another process" : "process \(processes)"
        return "a detached mount of \(Format.path(held.path.bytes)) is still in use by \(users)"
    }

    /// A store's text may contain anything, and terminals interpret control characters.
    private static func row(_ label: String, _ value: String) -> String {
        label + String(repeating: " ", count: max(1, 16 - label.count)) + Format.path(Array(value.utf8))
    }
}
