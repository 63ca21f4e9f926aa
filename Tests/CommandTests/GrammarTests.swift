import Foundation
import ReplicaControl
import SystemPackage
import Testing

@testable import mount_replica

/// The command line of mount.replica (mount(8), MODEL.md#platform).
@Suite struct GrammarTests {
    static func mount(_ words: String...) throws -> MountRequest {
        guard case .mount(let request) = try Invocation(words) else {
            throw MountUsageError("not a mount")
        }
        return request
    }

    @Test func mountCallsTheHelperWithOptionsLast() throws {
        let request = try Self.mount("photos", "/mnt/photos", "-sfnv", "-o", "rw,nosuid,noatime,_netdev")
        #expect(request.source == .name(try DomainName("photos")))
        #expect(request.mountpoint == "/mnt/photos")
        #expect(request.isFake)
        #expect(request.isVerbose)
        #expect(request.options.vfs == ["nosuid", "noatime"])
    }

    @Test(arguments: [
        ["-o", "ro", "photos", "/mnt"], ["photos", "-oro", "/mnt"], ["photos", "/mnt", "-nvo", "ro"],
        ["photos", "/mnt", "-o", "rw", "-o", "ro"], ["-t", "replica", "photos", "/mnt", "-o", "ro"],
        ["-o", "ro", "--", "photos", "/mnt"], ["photos", "/mnt", "-t", "fuse.replica", "-o", "rw,,ro,"],
    ])
    func argumentsMayBeInAnyOrder(words: [String]) throws {
        guard case .mount(let request) = try Invocation(words) else {
            Issue.record("not a mount")
            return
        }
        #expect(request.options.readOnly)
        #expect(request.mountpoint == "/mnt")
    }

    @Test func aURLAsSpecNamesTheStore() throws {
        let request = try Self.mount("file:///srv/store", "/mnt")
        #expect(request.source == .store(try StoreURL("file:///srv/store")))
    }

    @Test(arguments: ["/home/me/photos", "/a:b/photos", "/photos/"])
    func aPathAsSpecIsANameThatMountResolved(spec: String) throws {
        guard case .mount(let request) = try Invocation([spec, "/mnt"], isHere: { _ in true }) else {
            throw MountUsageError("not a mount")
        }
        #expect(request.source == .name(try DomainName("photos")))
    }

    /// mount(8) does so only with a name that is an entry of the working directory.
    @Test func otherPathsAreNoNames() throws {
        let here = FileManager.default.currentDirectoryPath
        let entry = try #require(try FileManager.default.contentsOfDirectory(atPath: here).first)
        #expect(MountRequest.isInWorkingDirectory(FilePath("\(here)/\(entry)")))
        for path in ["\(here)/\(UUID())", "/\(UUID())/\(entry)", "\(here)", "/"] {
            #expect(!MountRequest.isInWorkingDirectory(FilePath(path)), "\(path)")
        }
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: MountUsageError("a domain's name must be UTF-8")) {
            try Invocation([[0xFF], Array("/b".utf8)])
        }
        #expect(throws: MountUsageError("option 'credentials' needs a value in UTF-8")) {
            try Invocation([Array("a".utf8), Array("/b".utf8), Array("-ocredentials=/".utf8) + [0xFF]])
        }
        #expect(throws: MountUsageError("option 'fsname' needs a value in UTF-8")) {
            try Invocation([Array("a".utf8), Array("/b".utf8), Array("-ofsname=".utf8) + [0xFF]])
        }
    }

    @Test func pathsKeepTheirBytes() throws {
        let path = Array("/mnt/".utf8) + [0xFF, 0xFE]
        guard case .mount(let request) = try Invocation([Array("photos".utf8), path]) else {
            Issue.record("not a mount")
            return
        }
        #expect(request.mountpoint.withPlatformString { String(cString: $0) } != "")
        #expect(ControlFilePath(request.mountpoint).bytes == path)
    }

    @Test func fstabAndSystemdOptionsAreDropped() throws {
        let options = try MountOptions(
            "defaults,auto,noauto,nofail,_netdev,user,nouser,users,owner,group,x-systemd.automount,"
                + "x-systemd.device-timeout=5,X-foo=a,comment=x")
        #expect(options == MountOptions())
    }

    @Test(arguments: [
        ("ro", ["ro"]), ("ro,rw", []), ("rw,ro", ["ro"]), ("noexec,nosuid,nodev,exec", ["nosuid", "nodev"]),
        ("relatime,noatime", ["noatime", "relatime"]), ("sync,dirsync,async", ["dirsync"]), ("", []),
    ])
    func theLastOfContradictingOptionsApplies(text: String, vfs: [String]) throws {
        #expect(try MountOptions(text).vfs == vfs)
    }

    @Test(arguments: [
        ("dev,suid", ["dev", "suid"]), ("suid,nosuid", []), ("nodev,dev", ["dev"]), ("rw,exec,dev,nosuid", ["dev"]),
    ])
    func devicesAndSetIDProgramsMustBeRequested(text: String, granted: [String]) throws {
        #expect(try MountOptions(text).granted == granted)
    }

    @Test func theSourceAndAllFlagsReachTheDaemon() throws {
        let options = try MountOptions(#"relatime,suid,fsname=a\,b,lazytime,allow_other"#)
        #expect(options.textsForDaemon == ["relatime", "lazytime", "suid", "fsname=a,b", "allow_other"])
        #expect(try MountOptions(texts: options.textsForDaemon) == options)
        #expect(throws: MountUsageError("option 'fsname' needs a value")) { try MountOptions("fsname=") }
    }

    @Test func ownOptionsAreRead() throws {
        let options = try MountOptions(
            #"import=/home/a\,b,store=file:///s,state=/var/x,foreground,allow_other,nohydrate=a:b c,"#
                + "cache-max=10G,cache-min-free=500M,credentials=/etc/secret")
        #expect(options.importDirectory == "/home/a,b")
        #expect(options.store?.text == "file:///s")
        #expect(options.state == "/var/x")
        #expect(options.foreground)
        #expect(options.allowOther)
        #expect(options.domain.noHydrate == ["a", "b c"])
        #expect(options.domain.cacheMax == 10 << 30)
        #expect(options.domain.cacheMinFree == 500 << 20)
        #expect(options.domain.credentials == "/etc/secret")
    }

    @Test func scannersDownloadNothingByDefault() throws {
        #expect(try MountOptions("ro").domain.noHydrate.contains("tumblerd"))
        #expect(try MountOptions("nohydrate=").domain.noHydrate == [])
        #expect(try StoredDomainOptions(texts: ["nohydrate="]).noHydrate == [])
    }

    @Test func domainOptionsAreParsedAsWritten() throws {
        let options = try MountOptions("cache-max=1G,nohydrate=a:b,ro,cache-max=2G").domain
        #expect(options.texts == ["nohydrate=a:b", "cache-max=2G"])
        #expect(try StoredDomainOptions(texts: options.texts) == options)
        #expect(try MountOptions("enforce_caps").domain.enforcesCapabilities)
        let ended = try StoredDomainOptions(texts: ["enforce_caps", "cache-max=2G", "noenforce_caps"])
        #expect(!ended.enforcesCapabilities)
        #expect(ended.texts == ["cache-max=2G", "noenforce_caps"])
        #expect(try !MountOptions("ro").domain.trustsSetID && MountOptions("trust_setid").domain.trustsSetID)
        #expect(try StoredDomainOptions(texts: ["trust_setid", "notrust_setid"]).texts == ["notrust_setid"])
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("7k", 7 << 10), ("7K", 7 << 10), ("7KB", 7 << 10), ("7kib", 7 << 10), ("3M", 3 << 20),
            ("3GiB", 3 << 30), ("2T", 2 << 40),
        ] as [(String, UInt64)])
    func sizesAreBytes(text: String, bytes: UInt64) throws {
        #expect(try MountOptions("cache-max=\(text)").domain.cacheMax == bytes)
    }

    @Test(arguments: [
        ([], "usage: mount.replica SPEC DIR [-sfnv] [-o OPTS]"),
        (["photos"], "usage: mount.replica SPEC DIR [-sfnv] [-o OPTS]"),
        (["a", "/b", "/c"], "usage: mount.replica SPEC DIR [-sfnv] [-o OPTS]"),
        (["a", ""], "the mountpoint can't be empty"),
        (["a", "/b", "-x"], "unknown argument '-x'; see mount.replica --help"),
        (["a", "/b", "--frob"], "unknown argument '--frob'; see mount.replica --help"),
        (["a", "/b", "-o"], "-o needs a value"),
        (["a", "/b", "-t", "ext4"], "this helper mounts type replica, not 'ext4'"),
        (["a", "/b", "-o", "frob"], "unknown option 'frob'"),
        (["a", "/b", "-o", "frob=1"], "unknown option 'frob'"),
        (["a", "/b", "-o", "ro=1"], "option 'ro' takes no value"),
        (["a", "/b", "-o", "allow_other=yes"], "option 'allow_other' takes no value"),
        (["a", "/b", "-o", "import"], "option 'import' needs a value"),
        (["a", "/b", "-o", "import="], "option 'import' needs a value"),
        (["a", "/b", "-o", "import=here"], "'import' needs an absolute path"),
        (["a", "/b", "-o", "cache-max=10X"], "option 'cache-max' needs a size such as 500M or 10G, not '10X'"),
        (["a", "/b", "-o", "cache-max=-1"], "option 'cache-max' needs a size such as 500M or 10G, not '-1'"),
        (["a", "/b", "-o", "cache-max=G"], "option 'cache-max' needs a size such as 500M or 10G, not 'G'"),
        (["a", "/b", "-o", "cache-max=99999999T"], "option 'cache-max': '99999999T' is too large"),
        (["a/b", "/b"], "a domain's name can't contain '/'"),
        (["/none/photos", "/b"], "'/none/photos' is neither the name of a domain nor the URL of a store"),
        (["/", "/b"], "'/' is neither the name of a domain nor the URL of a store"),
        (["--probe", "file:///a", "xml"], "the format must be table or json"),
        ([".", "/b"], "a domain's name can't start with '.' or '-'"),
        (["", "/b"], "a domain's name can't be empty"),
        (["s3.x://b", "/b"], "not a store URL; one looks like file:///srv/store"),
        (["a:b", "/b"], "not a store URL; one looks like file:///srv/store"),
        (["file:///a", "/b", "-o", "store=file:///c"], "SPEC and store= name different stores"),
        (["--import", "a", "/b"], "usage: mount.replica --import NAME DIR URL"),
        (["--import", "a", "b", "file:///c"], "'DIR' needs an absolute path"),
        (["--serve"], "usage: mount.replica --serve NAME"),
        (["--serve", "--add", "a"], "--serve and --add are mutually exclusive"),
        (["--remove", "a", "some"], "what to keep must be dirty, downloaded or none"),
    ])
    func invalidLinesAreReportedInOneSentence(words: [String], message: String) {
        #expect(throws: MountUsageError(message)) { try Invocation(words) }
    }

    @Test func aRemountKeepsToTheFlags() throws {
        let line = "ro,nosuid,relatime,remount,user_id=0,default_permissions,cache-max=1G,x-systemd.automount"
        guard case .mount(let request) = try Invocation(["a", "/b", "-o", line]) else { return #expect(Bool(false)) }
        #expect(request.options.isRemount)
        #expect(request.options.vfs == ["ro", "nosuid", "relatime"])
        #expect(try !MountOptions("ro").isRemount)
        #expect(throws: MountUsageError("unknown option 'bogus'")) { try MountOptions("remount,bogus") }
        #expect(throws: MountUsageError("unknown option 'user_id'")) { try MountOptions("ro,user_id=0") }
    }

    @Test func sloppyIgnoresUnknownOptions() throws {
        #expect(try Self.mount("a", "/b", "-s", "-o", "frob=1,ro").options.vfs == ["ro"])
    }

    @Test(arguments: ["user:password@", "key:secret@host"])
    func aSecretInTheURLIsRefusedAndNotRepeated(authority: String) {
        let error = #expect(throws: MountUsageError.self) { try Invocation(["file://\(authority)/x", "/b"]) }
        #expect(error?.message.contains("credentials=FILE") == true)
        #expect(error?.message.contains(authority) == false)
    }

    @Test func internalFormsAreParsed() throws {
        let name = try DomainName("a")
        let store = try StoreURL("file:///s")
        #expect(
            try Invocation(["--import", "a", "/d", "file:///s"])
                == .importDirectory(name, directory: "/d", store: store, options: MountOptions()))
        #expect(
            try Invocation(["--add", "a", "file:///s", "-o", "cache-max=1G"])
                == .add(name, store: store, options: MountOptions("cache-max=1G")))
        #expect(try Invocation(["--serve", "a"]) == .serve(name, options: MountOptions()))
        #expect(try Invocation(["--remove", "a", "none"]) == .remove(name, keep: .none))
        #expect(try Invocation(["--help", "x", "-o", "frob"]) == .help)
        #expect(try Invocation(["-V"]) == .version)
    }
}
