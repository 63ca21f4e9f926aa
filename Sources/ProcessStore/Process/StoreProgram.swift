internal import CLinux
internal import ChildProcess
package import SystemPackage

/// A program that is a store.
package struct StoreProgram: Sendable {
    /// The path where it was found.
    package let path: FilePath
    /// The program's descriptor, so that the checked file runs even if its name is replaced. Nil: it is run by its
    /// path.
    let file: OwnedDescriptor?

    /// A program that is run by its path.
    package init(path: FilePath) {
        self.path = path
        file = nil
    }

    init(path: FilePath, file: OwnedDescriptor) {
        self.path = path
        self.file = file
    }

    /// Its name.
    var name: String { path.lastComponent?.string ?? path.string }

    /// Its command line.
    /// - Parameters:
    ///   - isLaunched: Whether this program runs first and becomes the store (``StoreSandbox``). It ends with the calling thread then.
    ///   - folders: The store's own.
    func call(isLaunched: Bool, folders: [String], environment: [String]) -> ProgramCall {
        // By the descriptor and not by the name, so that the checked file runs.
        let own = file == nil ? path.string : "\(CL_DESCRIPTORS)3"
        return ProgramCall(
            path: isLaunched ? "/proc/self/exe" : own,
            words: [name] + (isLaunched ? StoreSandbox.arguments(own, name: name, folders: folders) : []),
            environment: environment, file: file)
    }
}
