import ReplicaControl
import SystemPackage
import Testing

@testable import mount_replica

/// Where a new domain may be (SEMANTICS.md, "Import"), decided before anything moves.
@Suite struct NewDomainPlacesTests {
    /// A place on the table's disk; `other:/path` is on another disk, `path=/seen` has another visible path.
    private static func place(_ text: String) -> DiskPlace {
        let isOther = text.hasPrefix("other:")
        let parts = text.dropFirst(isOther ? 6 : 0).split(separator: "=").map { FilePath(String($0)) }
        return DiskPlace(
            seen: parts.last ?? "/", device: DeviceNumber(major: 8, minor: isOther ? 2 : 1), path: parts.first ?? "/",
            isInReplica: text.contains("/mounted/"))
    }

    struct Row: Sendable {
        var directory: String?
        var store = "/srv/store"
        var state = "/state/new"
        var mountpoint: String?
        /// State and store of another domain.
        var others: [(String, String)] = []
        var mounts: [FilePath] = ["/", "/proc"]
        /// The code and a part of the message, or nil if there is no failure.
        var refusal: (ExitReason, String)?
    }

    private static let a = [("/state/a", "/srv/a")]

    static let rows: [Row] = [
        Row(directory: "/home/d"),
        Row(),
        Row(directory: "/home/d", store: "/home/d2"),
        Row(directory: "/home/d", store: "/home/d-store", mountpoint: "/mnt"),
        // The directory and the store.
        Row(directory: "/home/d", store: "/home/d/inside", refusal: (.badStore, "is in the directory to import")),
        Row(directory: "/home/d", store: "/home/d/a/b", refusal: (.badStore, "is in the directory to import")),
        Row(directory: "/home/d", store: "/home/d", refusal: (.badStore, "is the directory to import")),
        Row(directory: "/home/d", store: "/home", refusal: (.badStore, "contains the directory to import")),
        Row(directory: "/home/d", store: "/", refusal: (.badStore, "contains the directory")),
        // One folder with two paths.
        Row(
            directory: "/home/d", store: "/home/d/inside=/mnt/bound",
            refusal: (.badStore, "/mnt/bound is in the directory to import, /home/d")),
        Row(directory: "/home/d=/mnt/d", store: "/home/d", refusal: (.badStore, "is the directory to import")),
        Row(directory: "/home/d", store: "other:/home/d/inside=/mnt/other"),
        Row(directory: "/home/d", store: "other:/=/home/d/disk", refusal: (.badStore, "is in the directory to import")),
        // The state.
        Row(directory: "/home/d", state: "/home/d/.local/new", refusal: (.cannotImport, "overlaps the place")),
        Row(directory: "/state/new/x", refusal: (.cannotImport, "overlaps the place")),
        Row(store: "/state", refusal: (.badStore, "overlaps the place")),
        Row(store: "/state/new/tree", refusal: (.badStore, "overlaps the place")),
        // Mounts of replicas, known domains or not.
        Row(directory: "/mounted/d", refusal: (.cannotImport, "is in a domain")),
        Row(directory: "/home/d", store: "other:/mounted/x", refusal: (.badStore, "is in a domain")),
        // Mounts below.
        Row(
            directory: "/home/d", mounts: ["/", "/home/d/sub"],
            refusal: (.cannotImport, "has a mount below, /home/d/sub")),
        Row(directory: "/home/d", mounts: ["/home", "/home/d2", "/home/d2/sub", "/home/x"]),
        Row(directory: "/x/d=/home/d", mounts: ["/home/d/a/b"], refusal: (.cannotImport, "unmount it first")),
        Row(mounts: ["/srv/store/sub", "/state/a"]),
        // Other domains.
        Row(directory: "/state/a/tree/x", others: a, refusal: (.cannotImport, "is in the domain a")),
        Row(directory: "/state/a", others: a, refusal: (.cannotImport, "is in the domain a")),
        Row(directory: "/state", others: a, refusal: (.cannotImport, "contains the domain a")),
        Row(directory: "/srv/a", others: a, refusal: (.cannotImport, "overlaps the store of the domain a")),
        Row(directory: "/srv/a/b", others: a, refusal: (.cannotImport, "overlaps the store of the domain a")),
        Row(directory: "/srv", store: "/x", others: a, refusal: (.cannotImport, "overlaps the store of the domain a")),
        Row(store: "/state/a/tree", others: a, refusal: (.badStore, "overlaps the state of the domain a")),
        Row(store: "/state/a/kept/x", others: a, refusal: (.badStore, "overlaps the state of the domain a")),
        Row(store: "/srv/a/b", others: a, refusal: (.badStore, "overlaps the store of the domain a")),
        Row(store: "/srv", others: a, refusal: (.badStore, "overlaps the store of the domain a")),
        Row(store: "/srv/a=/mnt/bound", others: a),
        Row(directory: "/home/d", store: "/srv/a", others: a),
        Row(state: "/srv/a/x", others: a, refusal: (.refused, "overlaps the store of the domain a")),
        Row(store: "/x", state: "/srv", others: a, refusal: (.refused, "overlaps the store of the domain a")),
        Row(state: "/state/a/tree/x", others: a, refusal: (.refused, "overlaps the state of the domain a")),
        Row(state: "/mounted/x", refusal: (.refused, "the place of the domain's state, /mounted/x, is in a domain")),
        // The mountpoint.
        Row(directory: "/home/d", mountpoint: "/home/d", refusal: (.mountFailed, "is moved by the import")),
        Row(directory: "/home/d", mountpoint: "/home/d/x", refusal: (.mountFailed, "is moved by the import")),
        Row(mountpoint: "/srv/store/x", refusal: (.mountFailed, "overlaps the store")),
        Row(mountpoint: "/srv", refusal: (.mountFailed, "overlaps the store")),
        Row(mountpoint: "/state", refusal: (.mountFailed, "overlaps the domain's state")),
    ]

    @Test(arguments: rows.indices) func overlappingPlacesAreRefused(index: Int) {
        let row = Self.rows[index]
        let places = NewDomainPlaces(
            directory: row.directory.map(Self.place), store: Self.place(row.store), state: Self.place(row.state),
            mountpoint: row.mountpoint.map(Self.place),
            others: row.others.map {
                NewDomainPlaces.Other(name: "a", state: Self.place($0.0), store: Self.place($0.1))
            }, mounts: row.mounts)
        let refusal = places.refusal
        #expect(refusal?.code == row.refusal?.0, "\(row): \(String(describing: refusal))")
        #expect(
            refusal?.message.contains(row.refusal?.1 ?? "?") ?? (row.refusal == nil),
            "\(row): \(String(describing: refusal))")
    }

    @Test func aStoreWithoutADirectoryOverlapsNothing() {
        #expect(NewDomainPlaces(directory: Self.place("/d"), store: nil, state: Self.place("/s")).refusal == nil)
    }
}
