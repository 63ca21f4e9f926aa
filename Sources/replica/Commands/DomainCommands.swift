import ArgumentParser
import ReplicaControl

/// Options of the commands that create a domain.
struct NewDomainOptions: ParsableArguments {
    @Option(help: "The store's URL, as file:///srv/store; 'replica help stores' lists what there is.")
    var store: String

    @Flag(help: "Create the store's directory if it does not exist.")
    var create = false

    @Option(help: "A file with the store's secrets, readable by its owner only.", completion: .path)
    var credentials: String?

    @Option(name: .customShort("o"), help: "Options for the domain, as in mount.replica: cache-max=10G,...")
    var options: [String] = []

    /// The store, and the arguments that follow it on the helper's command line.
    func arguments() throws -> [[UInt8]] {
        let url: StoreURL
        do { url = try StoreURL(store) } catch { throw ControlFailure(.badStore, "\(error)") }
        var words = [Array(url.text.utf8)]
        if let credentials {
            let path = try AbsolutePath.ofEntry(RawArguments.bytes(credentials))
            words += [Array("-o".utf8), Array("credentials=".utf8) + OptionList.escaped(path)]
        }
        if create { words += ["-o", "create"].map { Array($0.utf8) } }
        for option in options { words += [Array("-o".utf8), RawArguments.bytes(option)] }
        return words
    }
}

/// Text inside an option list.
enum OptionList {
    /// With a backslash before each comma and backslash.
    static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
    }
}

/// `replica import`: NSFileProviderManager.import(_:fromDirectoryAt:), CONFORMANCE.md statements 1–19.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn a directory into a domain: it is moved, whatever its size, and uploaded in the background.")

    @Argument(help: "The new domain's name.")
    var name: String
    @Argument(help: "The directory; afterwards its contents are only in the domain.", completion: .path)
    var directory: String
    @OptionGroup var domain: NewDomainOptions
    @Flag(help: "Return when everything is in the store.")
    var wait = false
    @OptionGroup var output: OutputOptions

    func run() throws {
        let name = try NewName.check(name)
        let arguments = try domain.arguments()
        let path: [UInt8]
        do { path = try AbsolutePath.ofEntry(RawArguments.bytes(directory)) } catch {
            throw ControlFailure(.cannotImport, error.message)
        }
        let answer = try MountProgram.command([Array("--import".utf8), Array(name.text.utf8), path] + arguments)
        let next = "mount it with 'replica mount \(name) DIR'"
        guard wait else {
            return try output.show(answer, ["\(name) is imported and is being uploaded; \(next)"])
        }
        try waitForStore(name)
        try output.show(answer, ["\(name) is imported and in the store; \(next)"])
    }

    private func waitForStore(_ name: DomainName) throws {
        do {
            let client = try DaemonConnection.connectOrStart(Domains().named(name.text))
            _ = try client.request(.wait(path: .root), onEvent: output.event)
        } catch let failure as ControlFailure {
            throw ControlFailure(failure.code, "\(name) is imported, but \(failure.message)")
        }
    }
}

/// `replica add`: NSFileProviderManager.add.
struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Create a domain for an existing store.")

    @Argument(help: "The new domain's name.")
    var name: String
    @OptionGroup var domain: NewDomainOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let name = try NewName.check(name)
        let words = ["--add", name.text].map { Array($0.utf8) }
        let answer = try MountProgram.command(words + domain.arguments())
        try output.show(answer, ["\(name) is added; mount it with 'replica mount \(name) DIR'"])
    }
}

/// A name for a new domain.
enum NewName {
    /// Rejects invalid and existing names before anything is changed.
    static func check(_ text: String) throws -> DomainName {
        let name: DomainName
        do { name = try DomainName(text) } catch { throw ControlFailure(.usage, "\(error)") }
        if try Domains().directories.domain(named: name) != nil {
            throw ControlFailure(.domainExists, "there is a domain named \(name) already")
        }
        return name
    }
}

/// `replica list`: NSFileProviderManager.getDomains.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the domains: name, state, store, mountpoint.")

    @OptionGroup var output: OutputOptions

    func run() throws {
        var failed: ControlFailure?
        let domains = try Domains().all()
        for (domain, answer) in zip(domains, DomainReport.statuses(of: domains)) {
            // A daemon that is stuck must not hide the other domains.
            switch answer {
            case .success(let status):
                try output.show(status, [StatusText.line(status)])
                if status.state == .stopped, status.reason != nil {
                    Output.complain("\(domain.name): \(status.reason ?? "")")
                }
            case .failure(let error):
                Output.complain("\(domain.name): \(ControlFailure.words(error))")
                failed = error as? ControlFailure ?? ControlFailure(.failed, "\(error)")
            }
        }
        if let failed { throw failed.code }
    }
}
