import ReplicaControl
import SystemPackage

/// The locations of all parts of a new domain. Decides, before anything is changed, whether it can be created there.
struct NewDomainPlaces: Equatable {
    /// Another domain.
    struct Other: Equatable {
        var name: String
        var state: DiskPlace
        /// Nil if the store is not a directory.
        var store: DiskPlace?
    }

    /// The directory to import.
    var directory: DiskPlace?
    /// Nil if the store is not a directory.
    var store: DiskPlace?
    var state: DiskPlace
    /// The directory to mount on.
    var mountpoint: DiskPlace?
    var others: [Other] = []
    /// Mountpoints, as programs see them.
    var mounts: [FilePath] = []

    /// Why the domain cannot be created there, or nil.
    var refusal: ControlFailure? {
        others.lazy.compactMap(refusalOf).first ?? refusalOfDirectory ?? refusalOfStore ?? refusalOfState
            ?? refusalOfMountpoint
    }

    private func refusalOf(_ other: Other) -> ControlFailure? {
        if let directory {
            if other.state.covers(directory) { return cannotImport(directory, "is in the domain \(other.name)") }
            if directory.covers(other.state) { return cannotImport(directory, "contains the domain \(other.name)") }
            if let store = other.store, store.meets(directory) {
                return cannotImport(directory, "overlaps the store of the domain \(other.name)")
            }
        }
        if other.state.meets(state) { return badState("overlaps the state of the domain \(other.name)") }
        // Its files would be replicated as the other domain's.
        if let store = other.store, store.meets(state) {
            return badState("overlaps the store of the domain \(other.name)")
        }
        guard let store else { return nil }
        if store.meets(other.state) {
            return badStore(store, "overlaps the state of the domain \(other.name)")
        }
        // Two replicas of one store are fine, but a part of another domain's store would be changed and removed by
        // both.
        guard let shared = other.store, store.covers(shared) != shared.covers(store) else { return nil }
        return badStore(store, "overlaps the store of the domain \(other.name)")
    }

    private var refusalOfDirectory: ControlFailure? {
        guard let directory else { return nil }
        if directory.isInReplica { return cannotImport(directory, "is in a domain") }
        // Moving the directory would move the mount along, and the mount's contents are not the directory's.
        if let mount = mounts.first(where: { $0 != directory.seen && $0.starts(with: directory.seen) }) {
            return cannotImport(directory, "has a mount below, \(mount): unmount it first")
        }
        if directory.meets(state) {
            return cannotImport(directory, "overlaps the place of the domain's state, \(state.seen)")
        }
        return nil
    }

    private var refusalOfStore: ControlFailure? {
        guard let store else { return nil }
        if store.isInReplica { return badStore(store, "is in a domain") }
        if let directory {
            if store.covers(directory), directory.covers(store) {
                return badStore(store, "is the directory to import: choose another store")
            }
            if directory.covers(store) { return badStore(store, "is in the directory to import, \(directory.seen)") }
            if store.covers(directory) { return badStore(store, "contains the directory to import, \(directory.seen)") }
        }
        if store.meets(state) {
            return badStore(store, "overlaps the place of the domain's state, \(state.seen)")
        }
        return nil
    }

    private var refusalOfState: ControlFailure? {
        state.isInReplica ? badState("is in a domain") : nil
    }

    /// Why it cannot be mounted there, or nil.
    var refusalOfMountpoint: ControlFailure? {
        guard let mountpoint else { return nil }
        if let directory, directory.covers(mountpoint) {
            return ControlFailure(
                .mountFailed,
                "\(mountpoint.seen) is moved by the import: import first, create it again, then mount on it")
        }
        for (place, what) in [(store, "the store"), (state, "the domain's state")] {
            guard let place, mountpoint.covers(place) || place.covers(mountpoint) else { continue }
            return ControlFailure(.mountFailed, "\(mountpoint.seen) overlaps \(what), \(place.seen)")
        }
        return nil
    }

    private func cannotImport(_ place: DiskPlace, _ why: String) -> ControlFailure {
        ControlFailure(.cannotImport, "\(place.seen) \(why)")
    }

    private func badState(_ why: String) -> ControlFailure {
        ControlFailure(.refused, "the place of the domain's state, \(state.seen), \(why)")
    }

    private func badStore(_ place: DiskPlace, _ why: String) -> ControlFailure {
        ControlFailure(.badStore, "the store \(place.seen) \(why)")
    }
}
