package import ReplicaModel

/// An item of a replica, as programs see it.
package struct Seen: Sendable {
    package var parent: ItemNumber
    package var name: FileName
    package var number: ItemNumber
    package var kind: ItemKind?
    package var path: String

    package init(parent: ItemNumber, name: FileName, number: ItemNumber, kind: ItemKind?, path: String) {
        (self.parent, self.name, self.number, self.kind, self.path) = (parent, name, number, kind, path)
    }
}

extension Replica {
    /// All items in listed folders, ordered by path.
    package func seen() -> [Seen] {
        var found: [Seen] = []
        func walk(_ folder: ItemNumber, _ path: String) {
            // Nothing of a folder that is not listed is visible yet.
            guard let entries = try? entries(of: folder) else { return }
            for entry in entries.sorted(by: { $0.name < $1.name }) {
                let here = path + entry.name.description
                found.append(
                    Seen(parent: folder, name: entry.name, number: entry.number, kind: entry.type, path: here))
                if entry.type == .folder { walk(entry.number, here + "/") }
            }
        }
        walk(.root, "")
        return found
    }
}
