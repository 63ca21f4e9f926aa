import CLinux
import Glibc
import ReplicaControl
import ReplicaModel
import SystemPackage

/// A domain to be created: a state folder, `domain.json` in it, and a tree, which makes it a domain (MODEL.md#layout).
struct NewDomain {
    let name: DomainName
    let storeURL: StoreURL
    let options: MountOptions
    /// The directory to import; nil for a domain with the store's contents.
    let directory: FilePath?
    /// Where the domain is to be mounted, if it is.
    let mountpoint: FilePath?
    /// The domain directories, including the one for new domains.
    let directories: [DomainDirectory]
    let root: DomainDirectory
    /// Opens and tests the store; replaced in tests.
    var tryOut: (StoreURL, FilePath?) throws -> TriedStore = StoreFactory.tryOut(_:credentials:)
    /// How long to wait for other processes that create domains.
    var timeLimit = Duration.seconds(10)
    /// Prints a line for the user; replaced in tests.
    var say: (String) -> Void = StandardError.say

    /// Checks everything, then creates the domain. If the default place is on another filesystem than the directory, the state
    /// is created next to the directory, with a link at the default place.
    func make(_ creation: DomainCreation) throws -> (DomainLocation, TriedStore) {
        let usual = options.state ?? root.root.appending(name.text)
        let source = try directory.map { path in
            try importable(path) { () throws(Errno) in try DirectoryToImport(path) }
        }
        let place = try checkedPlace(ofState: usual)
        let store = try openStore(creation)
        try importable(directory) { () throws(Errno) in try source?.check(store.properties) }
        let maker = NewDomainState(folders: StateFolders(root: usual), creation: creation)
        let location = try CreationLock.withLock(root.root, limit: timeLimit) {
            try maker.makeFolders(above: root.root.appending(name.text))
        } _: {
            try makeState(source, in: place, isListed: usual.removingLastComponent() == root.root, creation)
        }
        return (location, store)
    }

    private func makeState(
        _ source: DirectoryToImport?, in place: FilePath, isListed: Bool, _ creation: DomainCreation
    ) throws -> DomainLocation {
        // Opening the store may have taken long: what other processes have created meanwhile counts too. Links are not followed again.
        _ = try checkedPlace(ofState: place)
        let done = creation.count
        do {
            return try make(source, in: place, isListed: isListed, creation)
        } catch is LiesElsewhere {
            guard let directory, options.state == nil else {
                throw ControlFailure(.cannotImport, "\(place) is on a different filesystem than the directory")
            }
            try creation.rollBack(to: done)
            let beside = directory.removingLastComponent().appending(".\(name.text).replica")
            let place = try checkedPlace(ofState: beside)
            do { return try make(source, in: place, isListed: false, creation) } catch is LiesElsewhere {
                throw ControlFailure(
                    .cannotImport,
                    "\(directory) is in a lower layer of an overlay, where no folder can be moved: import a copy of it")
            }
        }
    }

    /// Where the state is to be created: the folders above are no links, and nobody else may change them.
    private func checkedPlace(ofState state: FilePath) throws -> FilePath {
        let place = try DiskPlace(of: state)
        var resolved = try DiskPlace(of: state.removingLastComponent()).seen
        if let name = state.lastComponent { resolved.append(name) }
        do throws(StateTrustError) { for path in [place.seen, resolved] { try StateTrust.checkAbove(path) } } catch {
            throw ControlFailure(.refused, "\(error)")
        }
        let others = try directories.domains().map { other in
            NewDomainPlaces.Other(
                name: other.name.text, state: try DiskPlace(of: other.state),
                store: try StoreFactory.directory(of: StoreURL(other.record.store)).map(DiskPlace.init(of:)))
        }
        let places = NewDomainPlaces(
            directory: try directory.map(DiskPlace.init(of:)),
            store: try StoreFactory.directory(of: storeURL).map(DiskPlace.init(of:)),
            state: place, mountpoint: try mountpoint.map(Mountpoint.place(of:)), others: others,
            mounts: try MountTable.read().map(\.path))
        if let refusal = places.refusal { throw refusal }
        return resolved
    }

    private func openStore(_ creation: DomainCreation) throws -> TriedStore {
        if options.createsStore, try StoreFactory.isMissing(storeURL) {
            try creation.run(.makeStore) {
                try StoreFactory.make(storeURL)
            } undo: {
                try StoreFactory.removeCreated(storeURL)
            }
        }
        let tried: TriedStore
        do { tried = try tryOut(storeURL, options.domain.credentials) } catch let failure as ControlFailure
            where options.createsStore && !StoreFactory.canMake(storeURL)
        {
            throw ControlFailure(failure.code, "\(failure.message) (--create works for file: and sftp: only)")
        }
        // Before any of the user's files are touched.
        if let note = tried.note { say(note) }
        return tried
    }

    private func make(
        _ source: DirectoryToImport?, in state: FilePath, isListed: Bool, _ creation: DomainCreation
    ) throws -> DomainLocation {
        let folders = StateFolders(root: state)
        let record = DomainRecord(name: name, store: storeURL, options: options.domain.texts)
        let maker = NewDomainState(folders: folders, creation: creation)
        try maker.makeFolders()
        try maker.write(record)
        if !isListed { try maker.link(at: root.root.appending(name.text)) }
        try creation.run(.makeTree) {
            try makeTree(folders, source)
        } undo: {
            try rollBackTree(folders, source)
        }
        return DomainLocation(name: name, state: state, record: record)
    }

    private func makeTree(_ folders: StateFolders, _ source: DirectoryToImport?) throws {
        do throws(Errno) {
            if let source { try folders.importDomain(from: source) } else { try folders.makeDomain() }
        } catch .improperLink {
            throw LiesElsewhere()
        } catch .notSupported {
            throw ControlFailure(
                .unsupported, "\(folders.root): this filesystem keeps no extended attributes, which a domain needs")
        } catch {
            guard directory == nil, error != .fileExists else { throw ControlFailure(error, importing: directory) }
            throw ControlFailure(.failed, "\(folders.root): \(error)")
        }
    }

    private func rollBackTree(_ folders: StateFolders, _ source: DirectoryToImport?) throws {
        guard let source else { return try folders.rollBackTree() }
        do throws(Errno) { try folders.moveTreeBack(to: source) } catch {
            throw ControlFailure(
                .failed, "what was in \(source.path) can't be moved back (\(error)) and is in \(folders.tree)")
        }
    }
}
