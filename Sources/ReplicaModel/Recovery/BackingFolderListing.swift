internal import CLinux
internal import Glibc
internal import SystemPackage

/// The entries of a folder in the backing tree, read at once.
struct BackingFolderListing {
    struct Line {
        var name: FileName
        var status: FileStatus
        /// Whether the file has our mark of a dataless file.
        var isDataless: Bool
        /// Whether its eviction was interrupted.
        var isEvicting = false
        /// Whether it is a placeholder that was truncated through the mount.
        var isTruncated = false
    }
    var lines: [Line] = []

    /// Reads the folder behind an `O_PATH` descriptor. Entries that vanish meanwhile are left out.
    /// - Parameter mark: The mark to look for; nil if it does not matter, and then ``Line/isDataless`` is always false.
    init(of folder: Int32, mark: DatalessMark?) throws(Errno) {
        let opened = try BackingPath(folder: folder, name: FileName(".")).open(O_RDONLY | O_DIRECTORY)
        guard let stream = fdopendir(opened) else {
            close(opened)
            throw .last
        }
        defer { closedir(stream) }
        while let entry = try nextEntry(of: stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { FileName(cString: $0) }
            }
            guard name.isValid else { continue }
            do throws(Errno) {
                let status = try FileStatus(name, in: folder)
                let place = BackingPath(folder: folder, name: name)
                let said = status.kind == .file ? try mark?.value(on: place) : nil
                lines.append(
                    Line(
                        name: name, status: status, isDataless: said != nil,
                        isEvicting: said != nil && said == mark?.whileEvicting,
                        isTruncated: said != nil && said == mark?.whenTruncated))
            } catch {
                // Also if only its mark can't be found: then it is there.
                guard error == .noSuchFileOrDirectory, !Self.isThere(name, in: folder) else { throw error }
            }
        }
    }

    private static func isThere(_ name: FileName, in folder: Int32) -> Bool {
        do throws(Errno) { _ = try FileStatus(name, in: folder) } catch { return error != .noSuchFileOrDirectory }
        return true
    }
}

extension BackingPath {
    /// Removes the mark, whether it is ours or not.
    func removeMark() throws(Errno) {
        do throws(Errno) { try setXattr(OwnXattr.dataless, nil) } catch {
            guard error == .noAttribute || error == .notSupported else { throw error }
        }
    }
}
