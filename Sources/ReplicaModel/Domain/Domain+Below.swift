internal import SystemPackage

/// What is no folder, and where it is.
struct FileBelow: Sendable {
    var number: ItemNumber
    var path: [FileName]
}

extension Domain {
    /// The item itself where it is no folder, else what is no folder below it, of listed folders, in the order of
    /// their paths.
    func files(at number: ItemNumber, _ path: [FileName]) throws(Errno) -> [FileBelow] {
        guard replica.withTree({ $0.items[number]?.kind }) == .folder else {
            return [FileBelow(number: number, path: path)]
        }
        var found: [FileBelow] = []
        var folders = [FileBelow(number: number, path: path)]
        while let folder = folders.popLast() {
            for child in try children(of: folder.number) {
                let below = FileBelow(number: child.number, path: folder.path + [child.name])
                if child.kind == .folder { folders.append(below) } else { found.append(below) }
            }
        }
        return found
    }

    /// The entries of a folder by their names; none where it isn't listed.
    func children(of folder: ItemNumber) throws(Errno) -> [ListedChild] {
        do throws(ReplicaError) {
            return try replica.listedChildren(of: folder) ?? []
        } catch {
            throw error.errno
        }
    }
}
