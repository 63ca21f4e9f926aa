import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// Probes the features of a filesystem in a temporary folder of its own. If the daemon is killed meanwhile, that folder
/// is removed like any other temporary file.
struct FileSystemProbe {
    /// The folder for the probe.
    private let folder: OpenDescriptor
    private let file = FileName("file")

    /// Determines the features of the filesystem that contains `folder`, which is open for reading.
    static func abilities(in folder: OpenDescriptor) throws(Errno) -> FileSystemAbilities {
        try isPlain(folder) ? FileSystemAbilities() : tryOut(in: folder)
    }

    /// Whether it is one of Linux's own filesystems, whose features are known, so that the store need not be touched. A
    /// filesystem that reports no birth time does not keep fractions of seconds either.
    private static func isPlain(_ folder: OpenDescriptor) throws(Errno) -> Bool {
        guard try FileSystemType(of: folder).isOfLinux, try SystemCalls.status(of: folder).birth != 0 else {
            return false
        }
        return try SystemCalls.mayHaveAttributes(folder) && !foldsCase(folder)
    }

    /// Whether a folder on one of Linux's own filesystems is case-insensitive (chattr +F).
    private static func foldsCase(_ folder: OpenDescriptor) -> Bool {
        var flags: CLong = 0
        // A filesystem without flags has no such feature.
        return ioctl(folder.raw, UInt(CL_FS_IOC_GETFLAGS), &flags) == 0 && flags & CLong(CL_FS_CASEFOLD_FL) != 0
    }

    /// Probes by making changes. If nothing can be created (read-only, full, another user's), the results of read-only
    /// checks are used.
    static func tryOut(in folder: OpenDescriptor) throws(Errno) -> FileSystemAbilities {
        let name = TemporaryName.make()
        do throws(Errno) {
            try SystemCalls.makeFolder(name, in: folder)
        } catch {
            var believed = FileSystemAbilities()
            believed.keepsAttributes = try SystemCalls.mayHaveAttributes(folder)
            return believed
        }
        defer { takeAway(name, from: folder) }
        let probe = FileSystemProbe(folder: try SystemCalls.openFolder(name, in: folder))
        return try probe.abilities(on: folder)
    }

    private func abilities(on above: OpenDescriptor) throws(Errno) -> FileSystemAbilities {
        var found = FileSystemAbilities()
        let handle: OpenDescriptor
        do throws(Errno) {
            handle = try SystemCalls.open(file, in: folder, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        } catch {
            guard Self.ofTheDisk.contains(error) else { throw error }
            found.keepsAttributes = try SystemCalls.mayHaveAttributes(above)
            return found
        }
        found.keepsAttributes = keepsAttribute(handle)
        found.keepsModes = keepsModes(handle)
        found.keepsTimes = keepsTime(handle)
        found.keepsSymlinks = keepsSymlink()
        found.isCaseSensitive = !isThere(FileName("FILE"))
        found.takesAnyName = takesAnyName()
        found.renamesExactly = renamesExactly()
        return found
    }

    /// An empty list of attributes proves nothing: many filesystems without attributes return one.
    private func keepsAttribute(_ file: OpenDescriptor) -> Bool {
        let (attribute, value) = (MetadataXattrs.template, Array("kept".utf8))
        return succeeds { () throws(Errno) in
            try SystemCalls.setAttribute(attribute, value, of: file)
            return try SystemCalls.attribute(attribute, of: file) == value
        }
    }

    private func keepsModes(_ file: OpenDescriptor) -> Bool {
        let modes: [UInt16] = [0o640, 0o600]
        return modes.allSatisfy { mode in
            succeeds { () throws(Errno) in
                try SystemCalls.check { fchmod(file.raw, mode_t(mode)) }
                return try SystemCalls.status(of: file).mode == mode
            }
        }
    }

    private func keepsTime(_ handle: OpenDescriptor) -> Bool {
        // An odd second, because FAT has a resolution of two seconds.
        let date = Timestamp(seconds: 1_234_567_891, nanoseconds: 123_456_789)
        return succeeds { () throws(Errno) in
            try SystemCalls.setModificationDate(date, of: file, in: folder)
            return try SystemCalls.status(of: handle).modified == date
        }
    }

    private func keepsSymlink() -> Bool {
        let (link, target) = (FileName("link"), Array("target".utf8))
        return succeeds { () throws(Errno) in
            try SystemCalls.makeSymlink(link, in: folder, to: target)
            return try SystemCalls.target(of: link, in: folder) == target
        }
    }

    private func takesAnyName() -> Bool {
        let strange = FileName("a:b?.")
        return succeeds { () throws(Errno) in
            _ = try SystemCalls.open(strange, in: folder, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            return try SystemCalls.entries(of: folder).contains { $0.name == strange }
        }
    }

    private func renamesExactly() -> Bool {
        let second = FileName("second")
        return succeeds { () throws(Errno) in
            _ = try SystemCalls.open(second, in: folder, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            do throws(Errno) {
                try SystemCalls.rename(file, in: folder, to: second, in: folder)
                return false
            } catch .fileExists {}
            try SystemCalls.rename(file, in: folder, to: second, in: folder, flags: CL_RENAME_EXCHANGE)
            return true
        }
    }

    private func isThere(_ name: FileName) -> Bool {
        do throws(Errno) {
            _ = try SystemCalls.status(of: name, in: folder)
            return true
        } catch {
            return false
        }
    }

    /// A failed call means that the filesystem does not support it, unless the disk is full or failing.
    private func succeeds(_ body: () throws(Errno) -> Bool) -> Bool {
        do throws(Errno) { return try body() } catch { return Self.ofTheDisk.contains(error) }
    }

    private static let ofTheDisk: Set<Errno> = [.noSpace, Errno(rawValue: EDQUOT), .ioError, .noMemory]

    private static func takeAway(_ name: FileName, from folder: OpenDescriptor) {
        do throws(Errno) {
            let inner = try SystemCalls.openFolder(name, in: folder)
            for entry in try SystemCalls.entries(of: inner) { try SystemCalls.unlink(entry.name, in: inner) }
            try SystemCalls.unlink(name, in: folder, isFolder: true)
        } catch {
            // The disk is failing: the folder is removed later, like any other temporary file.
        }
    }
}
