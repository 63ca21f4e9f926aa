import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension DirectoryTree {
    /// Looks for the item that a template made: under its name, then in the rest of its folder.
    func created(from template: ItemTemplate) throws(RemoteStoreError) -> Item? {
        guard template.filename.isValid else { return nil }
        let folder: OpenFolder
        do {
            folder = try openFolder(template.parent)
        } catch .noSuchItem {
            return nil
        }
        let place = Place(parent: folder.key, name: template.filename)
        if let item = try created(place, from: template, in: folder) { return item }
        // A symlink carries no mark, so that only one of the right name can be known for it.
        guard template.kind != .symlink, keepsAttributes else { return nil }
        let entries = try at(path(folder.names)) { () throws(Errno) in try Linux.entries(of: folder.handle) }
        for entry in entries where !TemporaryName.matches(entry.name) {
            let place = Place(parent: folder.key, name: entry.name)
            if let item = try created(place, from: template, in: folder) { return item }
        }
        return nil
    }

    private func created(
        _ place: Place, from template: ItemTemplate, in folder: OpenFolder
    ) throws(RemoteStoreError) -> Item? {
        do {
            let status = try Linux.status(of: place.name, in: folder.handle)
            guard status.kind == template.kind, try isMade(place.name, status, by: template, in: folder.handle)
            else { return nil }
            let item = try describe(place, status, in: folder.handle)
            index.withLock { $0.record(status, at: place) }
            return item
        } catch  where error.provesAbsence || error == .permissionDenied {
            return nil
        } catch {
            throw failure(error, at: path(folder.names + [place.name]))
        }
    }

    private func isMade(
        _ name: FileName, _ status: FileStatus, by template: ItemTemplate, in folder: Handle
    ) throws(Errno) -> Bool {
        if template.kind == .symlink {
            guard let target = template.target else { return status.modified == template.metadata.modificationDate }
            return try Linux.target(of: name, in: folder) == target
        }
        let file = try Linux.open(name, in: folder, O_RDONLY | O_NONBLOCK)
        let mark = try Linux.attribute(Attributes.template, of: file)
        return mark == Array(template.identifier.rawValue.utf8)
    }
}
