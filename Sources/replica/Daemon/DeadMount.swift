import ReplicaControl
import SystemPackage

/// A mount whose daemon was killed: every access fails with "Transport endpoint is not connected".
enum DeadMount {
    /// Unmounts the mount of the domain's last daemon, if it still exists. Returns whether it did.
    static func unmount(_ domain: DomainLocation) throws -> Bool {
        guard let record = MountRecord.read(state: domain.state) else { return false }
        let place = record.path.path
        guard let isUnmounted = record.withRoot({ Detachment.unmount($0, at: place) }) else { return false }
        guard isUnmounted else { throw ControlFailure(.failed, "\(place) can't be unmounted") }
        MountRecord.remove(state: domain.state)
        return true
    }

    /// Where the domain's mount is, as far as can be seen from here; without a daemon it is a dead one.
    static func place(of domain: DomainLocation) -> ControlFilePath? {
        guard let record = MountRecord.read(state: domain.state) else { return nil }
        if record.isThere { return record.path }
        // In a copied mount namespace it has another ID, but the same device.
        do {
            let top = try MountTable.top(at: record.path.path)
            // Another filesystem may have got the number since.
            let isOwn = top?.type == "fuse.replica" && top?.source == domain.name.text && top?.device == record.device
            return isOwn && cover(of: domain) == nil ? record.path : nil
        } catch {
            return nil
        }
    }

    /// If the domain's mount is there but can't be reached, where the mount is that hides it: on the same folder, or on one above.
    static func cover(of domain: DomainLocation) -> FilePath? {
        // Without a table, nothing is known of mounts.
        guard let record = MountRecord.read(state: domain.state), let table = try? MountTable.read() else { return nil }
        let place = record.path.path
        guard let own = table.lastIndex(where: { $0.path == place && $0.device == record.device }) else { return nil }
        return table[(own + 1)...].last { place.starts(with: $0.path) }?.path
    }

    /// The command that replaces it by a mount with a daemon.
    static func mend(_ name: String, _ place: ControlFilePath) -> String {
        "replica mount \(ShellWord.quoted(Array(name.utf8))) \(ShellWord.quoted(place.bytes))"
    }
}
