import ReplicaControl
import SystemPackage

/// The lines of fstab(5).
struct Fstab {
    /// What is mounted where.
    struct Line: Equatable {
        let source: String
        let place: String
        let type: String
        let options: [String]

        /// Whether mount(8) runs `mount.replica` for it.
        var isOfDomain: Bool { ["replica", "fuse.replica"].contains(type) }
    }

    let lines: [Line]

    init(_ text: String) {
        lines = text.split(separator: "\n").compactMap { line in
            let fields = line.split { $0 == " " || $0 == "\t" }.map { field in
                String(decoding: MountTableEscapes.unescaped(field.utf8), as: UTF8.self)
            }
            guard fields.count >= 4, !fields[0].hasPrefix("#") else { return nil }
            return Line(
                source: fields[0], place: fields[1], type: fields[2],
                options: fields[3].split(separator: ",").map(String.init))
        }
    }

    /// This machine's.
    static var own: Fstab { Fstab(ProcessInspection.text("/etc/fstab")) }

    /// Mountpoints of domains that any user may mount, with `allow_other`.
    var shared: [String] {
        lines.filter { line in
            let isOfUsers = line.options.contains { ["user", "users", "owner", "group"].contains($0) }
            return line.isOfDomain && isOfUsers && line.options.contains("allow_other")
        }.map(\.place)
    }

    /// The mountpoints of a domain.
    func places(of domain: String) -> [FilePath] {
        lines.filter { $0.isOfDomain && $0.source == domain }.map { FilePath($0.place) }
    }

    /// The last mountpoint on the way to a path where nothing of these is mounted.
    func unmounted(above path: FilePath, mounted: Set<FilePath>) -> FilePath? {
        lines.map { FilePath($0.place) }.filter { $0 != "/" && path.starts(with: $0) && !mounted.contains($0) }
            .max { $0.length < $1.length }
    }
}
