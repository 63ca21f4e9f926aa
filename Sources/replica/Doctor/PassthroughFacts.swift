import Glibc
import ReplicaControl
import SystemPackage

/// `replica-passthrough`, by which the kernel reads and writes the files of an ordinary user's mount itself.
struct PassthroughFacts {
    /// `libexec/replica-passthrough` in the prefix of mount.replica.
    var path = "/usr/libexec/replica-passthrough"
    var isInstalled = true
    /// Whether only root can put a file there. Elsewhere `scripts/install` does not install it, because root would give
    /// rights to a file that others can replace.
    var isRootsAlone = true
    /// It has CAP_SYS_ADMIN, or is set-user-ID root.
    var isPrivileged = true
    /// Whether its filesystem is mounted without set-user-ID, which ignores capabilities too.
    var isOnNoSetID = false

    init() {}

    /// Where a daemon looks for it that runs this `mount.replica`.
    init?(beside program: String) {
        guard let real = realpath(program, nil) else { return nil }
        defer { free(real) }
        let prefix = FilePath(platformString: real).removingLastComponent().removingLastComponent()
        path = prefix.appending("libexec").appending("replica-passthrough").string
        isInstalled = access(path, X_OK) == 0
        isRootsAlone = Self.isRootsAlone(prefix)
        var (status, volume) = (stat(), statvfs())
        guard stat(path, &status) == 0, statvfs(path, &volume) == 0 else { return }
        isPrivileged = status.st_uid == 0 && status.st_mode & S_ISUID != 0 || Self.mayAdminister(path)
        isOnNoSetID = volume.f_flag & UInt(ST_NOSUID) != 0
    }

    /// Like `only_roots` of `scripts/install`: the folders up to the root are root's. Where everybody may make entries, but
    /// remove only their own, what root has there is safe.
    private static func isRootsAlone(_ prefix: FilePath) -> Bool {
        let libexec = prefix.appending("libexec")
        var status = stat()
        var folder = stat(libexec.string, &status) == 0 ? libexec : prefix
        var hasRootsEntry = false
        while stat(folder.string, &status) == 0, status.st_uid == 0 {
            let isSafe = hasRootsEntry && status.st_mode & S_ISVTX != 0
            if status.st_mode & 0o022 != 0, !isSafe { return false }
            if !folder.removeLastComponent() { return true }
            hasRootsEntry = true
        }
        return false
    }

    /// Whether the kernel gives it CAP_SYS_ADMIN: `struct vfs_cap_data` with the flag of effective capabilities.
    private static func mayAdminister(_ path: String) -> Bool {
        guard let data = XattrSupport.value(of: "security.capability", at: FilePath(path)), data.count >= 8 else {
            return false
        }
        // Little-endian: the flags are in the first byte, the permitted capabilities begin at the fifth.
        let (effectiveFlag, capSysAdmin): (UInt8, Int) = (1, 21)
        return data[0] & effectiveFlag != 0 && data[4 + capSysAdmin / 8] & 1 << (capSysAdmin % 8) != 0
    }

    /// Whether a kernel tells whose connection a FUSE device is of, which `replica-passthrough` asks: Linux 6.13.
    static func isAnswered(byKernel release: String) -> Bool {
        let numbers = release.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return true }
        return (numbers[0], numbers[1]) >= (6, 13)
    }

    /// The command that installs all programs where these are.
    static func installing(into prefix: FilePath) -> String {
        switch prefix.string {
        case "/usr": "apt-get install --reinstall replica"
        case "/usr/local": "scripts/install"
        default: "scripts/install --prefix \(ShellWord.quoted(prefix))"
        }
    }

    func finding(asRoot: (String) -> String) -> Finding {
        let cost = "so the daemons of users read and write the files themselves, which takes longer"
        let prefix = FilePath(path).removingLastComponent().removingLastComponent()
        if !isRootsAlone, !isInstalled || !isPrivileged {
            return .fine(
                .passthrough, "\(prefix) is not root's alone and so has no replica-passthrough with rights, \(cost)")
        }
        if !isInstalled {
            return .warning(.passthrough, "\(path) is missing, \(cost)", mend: asRoot(Self.installing(into: prefix)))
        }
        let word = ShellWord.quoted(Array(path.utf8))
        if !isPrivileged {
            return .warning(
                .passthrough, "\(path) lacks CAP_SYS_ADMIN, \(cost)", mend: asRoot("setcap cap_sys_admin+ep \(word)"))
        }
        if isOnNoSetID {
            return .warning(
                .passthrough, "\(path) is on a filesystem that is mounted nosuid, \(cost)",
                mend: asRoot("mount -o remount,suid $(findmnt -nf -o TARGET -T \(word))"))
        }
        return .fine(.passthrough, "the kernel reads and writes the files of users' mounts")
    }
}
