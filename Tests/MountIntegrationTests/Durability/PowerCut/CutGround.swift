import Glibc
import ReplicaTestSupport
import Testing

/// The disks of a trial that lose their power, and how that is simulated.
struct CutGround: Sendable {
    /// The layout of state and store on the disks.
    enum Layout: String, CaseIterable, Sendable {
        /// The state on a disk that is cut, the store on one that is not.
        case stateOnly
        /// Both on one disk.
        case together
        /// On a disk each, and both are cut.
        case apart
        /// A second domain of the same store continues during the cut.
        case besideAnother
        /// Two domains on one disk, their store on another, and both are cut.
        case twoDomains
    }

    let trial: Trial
    let layout: Layout

    /// The domains, and their mountpoints.
    var domains: [(name: String, mount: String)] {
        let first = ("d", trial.mount)
        return hasTwo ? [first, ("e", trial.folder + "/mnt2")] : [first]
    }
    private var hasTwo: Bool { layout == .besideAnother || layout == .twoDomains }
    var isStoreCut: Bool { layout != .stateOnly && layout != .besideAnother }
    var store: String { trial.folder + (layout == .together ? "/data/s" : "/store/s") }

    /// The beginning of every script of a trial with disks.
    private var words: String {
        """
        STORE=\(store); DISKS="\(isStoreCut && layout != .together ? "data store" : "data")"
        \(layout == .besideAnother ? "CUT=d" : "CUT=\"\(domains.map(\.name).joined(separator: " "))\"")
        \(Self.functions)

        """
    }

    private static let functions = #"""
        data_of() { if [ -e "$HERE/elsewhere/replica/$1" ]; then echo "$HERE/elsewhere"; else echo "$HERE/data"; fi; }
        of() { local name=$1; shift; XDG_DATA_HOME=$(data_of "$name") timeout 100 "$BIN/replica" "$@"; }
        mount_of() { case $1 in d) echo "$HERE/mnt" ;; e) echo "$HERE/mnt2" ;; esac; }
        # Every second file of the trees; programs may take one away meanwhile.
        sync_half() {
            { find data/replica/*/tree -type f 2>/dev/null || true; } | awk 'NR % 2' | while read -r file; do
                sync "$file" 2>/dev/null || [ ! -e "$file" ] || fail "cannot sync $file"
            done
        }
        cut() {
            local name pids=() pid disk
            for name in $CUT; do
                pid=$(STATE=$(data_of "$name")/replica/$name daemon)
                [ -z "$pid" ] || pids+=("$pid")
            done
            [ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}"
            for pid in "${pids[@]+"${pids[@]}"}"; do gone "$pid"; done
            for disk in $DISKS; do
                take_disk "$disk"
                # To be looked at should this round fail.
                [ -z "${REPLICA_TEST_KEEP:-}" ] || cp --sparse=always "$disk.taken" "$disk.cut"
            done
            for name in $CUT; do umount -l "$(mount_of "$name")" 2>/dev/null || true; done
            for disk in $DISKS; do
                umount -l "$HERE/$disk"
                mv "$disk.taken" "$disk.image"
                mount -o loop "$disk.image" "$HERE/$disk"
            done
            for name in $CUT; do of "$name" mount "$name" "$(mount_of "$name")" >/dev/null; done
        }

        """#

    func begin() async throws {
        try await shell(
            """
            export XDG_DATA_HOME=$HERE/data
            for disk in $DISKS; do disk_at $disk 48M; done
            mkdir -p "$STORE" mnt2
            replica add d --store "file://$STORE" >/dev/null
            \(layout == .besideAnother ? "export XDG_DATA_HOME=$HERE/elsewhere; mkdir elsewhere" : "")
            \(hasTwo ? "replica add e --store \"file://$STORE\" >/dev/null" : "")
            for name in \(domains.map(\.name).joined(separator: " ")); do
                of $name mount $name "$(mount_of $name)" >/dev/null
            done
            """)
    }

    /// Waits for all domains, one after the other; the first waits again for changes that the second has sent.
    func wait() async throws { try await shell(waiting) }

    private var waiting: String {
        let names = domains.map(\.name)
        return (hasTwo ? names + names : names).map { "of \($0) wait \($0) --timeout 90 >/dev/null" }
            .joined(separator: "\n")
    }

    /// Cuts the power and mounts again. Programs on a surviving mount continue.
    /// - Parameter before: Runs on the disks right before.
    /// - Returns: Whether a byte that was not synced is lost.
    func cut(after before: String) async throws -> Bool {
        let said = try await shell(
            """
            \(before)
            for disk in $DISKS; do echo lost >"$disk/control"; done
            cut
            for disk in $DISKS; do [ ! -s "$disk/control" ] || echo "unproven"; rm -f "$disk/control"; done
            """)
        return !said.contains("unproven")
    }

    /// Waits for all domains. No program may write by then.
    /// - Returns: Everything in `status` that does not mean idle.
    func rest() async throws -> [String] {
        let said = try await shell(
            """
            \(waiting)
            idle() { of "$1" status "$1" --json | grep -qF '"state":"idle"'; }
            for name in \(domains.map(\.name).joined(separator: " ")); do
                # Upkeep goes on for a moment; what does not end is said below.
                eventually idle $name || true
                of $name status $name --json | sed "s/^/status: /"; of $name pending $name | sed "s/^/pending: /"
            done
            """)
        return said.split(separator: "\n").map(String.init).filter { !isOfRest($0) }
    }

    private func isOfRest(_ line: String) -> Bool {
        line.hasPrefix("status: ") && line.contains(#""state":"idle""#) && line.contains(#""errors":0"#)
            && line.contains(#""pending":0"#)
    }

    func outcome(_ unrest: [String]) throws -> CutOutcome {
        CutOutcome(
            mounts: try domains.map { try FoundTree(readingFolder: $0.mount) },
            store: try FoundTree(readingFolder: store),
            kept: try domains.flatMap { try kept($0.name) }, unrest: unrest, isStoreCut: isStoreCut)
    }

    private func kept(_ domain: String) throws -> [[UInt8]] {
        try ["data", "elsewhere"].flatMap { place in
            let folder = "\(trial.folder)/\(place)/replica/\(domain)/kept"
            guard access(folder, F_OK) == 0 else { return [[UInt8]]() }
            return try FileTree(readingFolder: folder).entries.values.compactMap { entry in
                if case .file(let content) = entry { content } else { nil }
            }
        }
    }

    @discardableResult
    func shell(_ script: String) async throws -> String { try await trial.shell(words + script) }
}
