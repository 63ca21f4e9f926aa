internal import SystemPackage

/// An item that is not a folder, with its path.
struct FileBelow: Sendable {
    var number: ItemNumber
    var path: [FileName]
}

extension Domain {
    /// The item itself if it is not a folder; otherwise everything below it that is not a folder, in listed folders,
    /// ordered by path.
    /// - Parameter work: Receives the progress.
    func files(at number: ItemNumber, _ path: [FileName], _ work: RequestProgress) throws(Errno) -> [FileBelow] {
        defer { work.endCounting() }
        guard replica.withTree({ $0.items[number]?.kind }) == .folder else {
            work.find(items: 1)
            return [FileBelow(number: number, path: path)]
        }
        var found: [FileBelow] = []
        var folders = [FileBelow(number: number, path: path)]
        while let folder = folders.popLast() {
            let children = try children(of: folder.number)
            work.find(items: children.count { $0.kind != .folder })
            for child in children {
                let below = FileBelow(number: child.number, path: folder.path + [child.name])
                if child.kind == .folder { folders.append(below) } else { found.append(below) }
            }
        }
        return found
    }

    /// The entries of a folder by name; empty if it isn't listed.
    func children(of folder: ItemNumber) throws(Errno) -> [ListedChild] {
        do throws(ReplicaError) {
            return try replica.listedChildren(of: folder) ?? []
        } catch {
            throw error.errno
        }
    }
}
