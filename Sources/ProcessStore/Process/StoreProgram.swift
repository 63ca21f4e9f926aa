public import SystemPackage

/// A program that is a store.
public struct StoreProgram: Sendable {
    /// Where it was found.
    public let path: FilePath
    /// The program, opened: what runs is what was looked at, whatever has its name by then. Nil: it is run by its path.
    let file: OwnedDescriptor?

    /// A program that is run by its path.
    public init(path: FilePath) {
        self.path = path
        file = nil
    }

    init(path: FilePath, file: OwnedDescriptor) {
        self.path = path
        self.file = file
    }

    /// What it is called.
    var name: String { path.lastComponent?.string ?? path.string }
}
