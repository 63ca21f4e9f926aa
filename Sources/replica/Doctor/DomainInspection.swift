import FoundationEssentials
import Glibc
import ReplicaControl
import SystemPackage

/// Inspects domains without changing anything.
enum DomainInspection {
    /// The domains that can be read, and what is wrong with the others.
    static func all() throws -> (domains: [DomainLocation], unreadable: [DomainFacts]) {
        var unreadable: [DomainFacts] = []
        let directories = Domains().directories
        let domains = try directories.domains { name, error in
            unreadable.append(facts(ofUnreadable: name, error))
        }
        return (domains, unreadable + LostRecord.all(in: directories))
    }

    /// The same for one domain.
    static func named(_ text: String) throws -> (domains: [DomainLocation], unreadable: [DomainFacts]) {
        if let lost = LostRecord.all(in: Domains().directories).first(where: { $0.name == text }) {
            return ([], [lost])
        }
        do { return ([try Domains().named(text)], []) } catch let error as UnreadableDomain {
            return ([], [facts(ofUnreadable: try DomainName(text), error)])
        }
    }

    private static func facts(ofUnreadable name: DomainName, _ error: any Error) -> DomainFacts {
        var facts = DomainFacts()
        (facts.name, facts.user) = (name.text, geteuid())
        guard let error = error as? UnreadableDomain else {
            facts.state = .unreadable(FilePath(name.text), "\(error)", mend: nil)
            return facts
        }
        // Only a person knows what was there; replica-domains(5) has the form.
        let record = error.place.appending(StateFileName.record.rawValue)
        let edit = error.isOfRecord ? "${EDITOR:-editor} \(ShellWord.quoted(record))" : nil
        facts.state = .unreadable(error.place, error.reason, mend: edit)
        guard let resolved = realpath(error.place.string, nil) else { return facts }
        defer { free(resolved) }
        let state = FilePath(platformString: resolved)
        do throws(StateTrustError) { try StateTrust.check(state) } catch {
            facts.state = .untrusted(error.path, error.reason, mend: mending(error.path))
        }
        // A folder above may be somebody else's with good reason.
        do throws(StateTrustError) { try StateTrust.checkAbove(state) } catch {
            facts.state = .untrusted(error.path, error.reason, mend: nil)
        }
        return facts
    }

    /// The command that gives an entry of the state the required owner and permissions; nil if another user created it.
    private static func mending(_ path: FilePath) -> String? {
        var status = stat()
        guard lstat(path.string, &status) == 0, status.st_mode & S_IFMT != S_IFLNK else { return nil }
        let user = geteuid()
        if status.st_uid != user { return "\(user == 0 ? "" : "sudo ")chown \(user) \(ShellWord.quoted(path))" }
        return status.st_mode & 0o077 != 0 ? "chmod 700 \(ShellWord.quoted(path))" : nil
    }

    /// Everything that can be found out about a domain. Its daemon is queried, with a timeout of a few seconds.
    static func inspect(at domain: DomainLocation) -> DomainFacts {
        var facts = DomainFacts()
        (facts.name, facts.user, facts.prefix) = (domain.name.text, geteuid(), MachineInspection.prefix)
        if let closed = closedEntry(of: domain) {
            facts.state = closed
            return facts
        }
        if InterruptedRemoval.isLeft(in: domain) {
            facts.state = .halfRemoved(domain.state)
            return facts
        }
        facts.daemon = daemon(of: domain)
        facts.mount = DeadMount.place(of: domain)?.path
        facts.cover = facts.mount == nil ? DeadMount.cover(of: domain) : nil
        inspectAutomatic(&facts)
        if case .answers(let process, _) = facts.daemon {
            facts.descriptors = ProcessInspection.descriptors(of: process)
        }
        facts.disk = DiskFacts(at: domain.state)
        facts.hasReserve = access(domain.state.appending(StateFileName.reserve.rawValue).string, F_OK) == 0
        facts.store = store(of: domain)
        facts.credentials = credentials(of: domain)
        return facts
    }

    /// The tree or the database, if its user may not use it.
    private static func closedEntry(of domain: DomainLocation) -> DomainFacts.State? {
        for (entry, mode, rights) in [(StateFileName.tree, R_OK | X_OK, "u+rx"), (.database, R_OK | W_OK, "u+rw")] {
            let path = domain.state.appending(entry.rawValue)
            var status = stat()
            guard access(path.string, mode) != 0, errno == EACCES, stat(path.string, &status) == 0 else { continue }
            let (user, word) = (geteuid(), ShellWord.quoted(path))
            let own = status.st_uid == user ? "" : "sudo chown \(user) \(word) && "
            return .closed(path, mend: "\(own)chmod \(rights) \(word)")
        }
        return nil
    }

    /// What mounts it by itself: a unit, or fstab.
    private static func inspectAutomatic(_ facts: inout DomainFacts) {
        let scope: UnitScope = geteuid() == 0 ? .system : .user
        let environment = ProcessInfo.processInfo.environment
        // Without a home, or with a name that is too long, there is none.
        let automatic = try? AutomaticMount(scope, domain: facts.name, environment: environment)
        let places = (automatic?.mountpoint.map { [$0] } ?? []) + Fstab.own.places(of: facts.name)
        facts.missingPlace = places.first { access($0.string, F_OK) != 0 && errno == ENOENT }
        if let place = facts.missingPlace {
            var above = place
            repeat { above.removeLastComponent() } while access(above.string, F_OK) != 0 && above.components.count > 0
            facts.missingPlaceIsOwn = access(above.string, W_OK | X_OK) == 0
        }
        guard let automatic, scope.isBooted else { return }
        facts.unit = DomainFacts.Unit(
            name: automatic.unit, control: "systemctl \(scope.word)",
            hasFailed: automatic.control.hasFailed(automatic.unit))
    }

    private static func daemon(of domain: DomainLocation) -> DomainFacts.Daemon {
        var client: ControlClient?
        do {
            client = try ControlClient.ifRunning(state: domain.state)
            guard let client else { return .none }
            guard case .daemon(let status) = try client.request(.hello, timeout: DaemonProbe.helloSeconds) else {
                return .failed("its daemon's answer is invalid")
            }
            return .answers(process: status.pid, mountpoint: status.mountpoint?.path)
        } catch let failure as ControlFailure where failure.code == .notRunning {
            return .none  // It ended during the query.
        } catch let failure as ControlFailure where failure.code == .timedOut {
            let process = client?.daemonProcess
            return .silent(process: process, isStopped: process.map(ProcessInspection.isStopped) ?? false)
        } catch {
            return .failed(ControlFailure.words(error))
        }
    }

    private static func store(of domain: DomainLocation) -> DomainFacts.Store {
        do {
            let url = try StoreURL(domain.record.store)
            if url.scheme == "file" { return folder(at: FilePath(bytes: try url.filePath())) }
            if url.scheme == "sftp" { return .server(url.text) }
            return .program(url.scheme, StoreProgramSearch.own.installed().first { $0.scheme == url.scheme }?.path)
        } catch {
            return .invalid("\(error)")
        }
    }

    private static func folder(at path: FilePath) -> DomainFacts.Store {
        let place = DiskFacts(at: path)
        // A path that can't be inspected has no mount of its own.
        guard place.outcome == .failed("\(Errno.noSuchFileOrDirectory)"),
            let mounted = try? Set(MountTable.read().map(\.path)),
            let mountpoint = Fstab.own.unmounted(above: path, mounted: mounted)
        else { return .folder(place) }
        return .unmounted(place, on: mountpoint)
    }

    private static func credentials(of domain: DomainLocation) -> DomainFacts.Credentials {
        let option = domain.record.options.last { $0.hasPrefix("credentials=") }
        guard let option else { return login(of: domain) }
        let path = FilePath(String(option.dropFirst("credentials=".count)))
        var status = stat()
        guard stat(path.string, &status) == 0 else { return .missing(path, "\(Errno(rawValue: errno))") }
        if status.st_uid != geteuid(), status.st_uid != 0 { return .foreign(path) }
        guard status.st_mode & 0o077 == 0 else { return .readable(path) }
        return access(path.string, R_OK) == 0 ? .good : .closed(path, owner: status.st_uid)
    }
}

/// What `replica login` keeps for a domain.
private func login(of domain: DomainLocation) -> DomainFacts.Credentials {
    guard let logins = Logins.own, let url = try? StoreURL(domain.record.store) else { return .none }
    var status = stat()
    if lstat(logins.path.string, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
        if status.st_uid != geteuid(), status.st_uid != 0 { return .foreign(logins.path) }
        if status.st_mode & 0o077 != 0 { return .readable(logins.path) }
    }
    switch logins.state(of: url, last: DomainLogin.place(state: domain.state)) {
    case .none: return .none
    case .kept(let keeper): return .kept(keeper)
    case .unusable(let reason): return .unusable(reason)
    }
}

extension FilePath {
    /// A path of any bytes.
    fileprivate init(bytes: [UInt8]) { self.init(platformString: bytes.map { CChar(bitPattern: $0) } + [0]) }
}
