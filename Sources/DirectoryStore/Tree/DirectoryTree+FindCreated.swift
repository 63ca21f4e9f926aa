import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    /// Finds the item created from a template: under its name, then by its mark in the rest of its folder.
    func created(from template: ItemTemplate) throws(RemoteStoreError) -> Item? {
        guard template.filename.isValid else { return nil }
        let folder: OpenFolder
        do {
            folder = try openFolder(template.parent)
        } catch .noSuchItem {
            return nil
        }
        let place = EntryPlace(parent: folder.key, name: template.filename)
        if let item = try created(place, from: template, in: folder) { return item }
        // A symlink has no mark, so it can only be recognized under the right name.
        guard template.kind != .symlink, abilities.keepsAttributes else { return nil }
        guard let name = try marked(template, in: folder) else { return nil }
        return try created(EntryPlace(parent: folder.key, name: name), from: template, in: folder)
    }

    /// The entry with the template's mark in a folder. One thread at a time searches a folder.
    private func marked(_ template: ItemTemplate, in folder: OpenFolder) throws(RemoteStoreError) -> FileName? {
        try searching.withLock { count throws(RemoteStoreError) in
            let known = marks.withLock { $0.name(of: template.identifier, in: folder.key) }
            if let known {
                guard let name = known else { return nil }
                // Another program may have renamed it since.
                if try at(path(folder.names), { () throws(Errno) in try isMarked(name, by: template, in: folder) }) {
                    return name
                }
            }
            count += 1
            try readMarks(of: folder)
            return marks.withLock { $0.name(of: template.identifier, in: folder.key) } ?? nil
        }
    }

    private func readMarks(of folder: OpenFolder) throws(RemoteStoreError) {
        marks.withLock { $0.begin(folder.key) }
        let seen = try at(path(folder.names)) { () throws(Errno) in
            var seen: [(mark: [UInt8], name: FileName)] = []
            for entry in try SystemCalls.entries(of: folder.handle) where !TemporaryName.matches(entry.name) {
                do throws(Errno) {
                    if let mark = try mark(of: entry.name, in: folder) { seen.append((mark, entry.name)) }
                } catch  where error.provesAbsence || error.isOfOneFile {
                    continue
                }
            }
            return seen
        }
        marks.withLock { $0.finish(folder.key, seen) }
    }

    /// The longest template identifier that is recognized.
    private static let longestMark = 1_024

    private func mark(of name: FileName, in folder: OpenFolder) throws(Errno) -> [UInt8]? {
        marks.withLock { $0.checks += 1 }
        return try SystemCalls.attribute(MetadataXattrs.template, of: name, in: folder.handle, atMost: Self.longestMark)
    }

    private func isMarked(
        _ name: FileName, by template: ItemTemplate, in folder: OpenFolder
    ) throws(Errno) -> Bool {
        do {
            return try mark(of: name, in: folder) == Array(template.identifier.rawValue.utf8)
        } catch  where error.provesAbsence {
            return false
        }
    }

    private func created(
        _ place: EntryPlace, from template: ItemTemplate, in folder: OpenFolder
    ) throws(RemoteStoreError) -> Item? {
        do {
            let status = try status(at: place, in: folder.handle)
            guard status.kind == template.kind, try isMade(place.name, status, by: template, in: folder)
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
        _ name: FileName, _ status: FileStatus, by template: ItemTemplate, in folder: OpenFolder
    ) throws(Errno) -> Bool {
        if template.kind == .symlink {
            guard let target = template.target else { return status.modified == template.metadata.modificationDate }
            return try SystemCalls.target(of: name, in: folder.handle) == target
        }
        return try isMarked(name, by: template, in: folder)
    }
}
