import ReplicaControl
import SystemPackage

/// The findings about a domain.
extension DomainFacts {
    /// One for each check. If a domain's state can't be trusted, nothing else was checked.
    var findings: [Finding] {
        var all = [stateFinding]
        if state == .trusted {
            all += [daemonFinding, unitFinding, mountFinding, diskFinding, storeFinding, credentialsFinding]
            if let descriptorsFinding { all.append(descriptorsFinding) }
        }
        return all.map { finding in
            var finding = finding
            finding.domain = name
            return finding
        }
    }

    private var quotedName: String { ShellWord.quoted(Array(name.utf8)) }

    private var stateFinding: Finding {
        switch state {
        case .trusted: .fine(.state, "only its user can access it")
        case .untrusted(let path, let reason, let mend): .error(.state, "\(path) \(reason)", mend: mend)
        case .unreadable(let path, let reason, let mend):
            .error(.state, "\(path) can't be read: \(reason)", mend: mend)
        case .closed(let path, let mend): .error(.state, "\(path) can't be opened by its user", mend: mend)
        case .halfRemoved(let path):
            .error(.state, "\(path): its removal is not finished", mend: "replica remove \(quotedName)")
        }
    }

    private var daemonFinding: Finding {
        switch daemon {
        case .none: return .fine(.daemon, "it is not running")
        case .answers(let process, _): return .fine(.daemon, "process \(process) answers")
        case .failed(let reason): return .error(.daemon, reason)
        case .silent(let process?, isStopped: true):
            return .error(.daemon, "its daemon (process \(process)) is stopped", mend: "kill -CONT \(process)")
        case .silent(let process?, isStopped: false):
            let again = mount.map { " && replica mount \(quotedName) \(ShellWord.quoted($0))" } ?? ""
            return .error(
                .daemon, "its daemon (process \(process)) does not answer", mend: "kill -9 \(process)\(again)")
        case .silent(nil, _): return .error(.daemon, DaemonProbe.silence)
        }
    }

    private var unitFinding: Finding {
        guard let unit, unit.hasFailed else { return .fine(.unit, "no unit of systemd has failed to serve it") }
        let (name, control) = (ShellWord.quoted(Array(unit.name.utf8)), unit.control)
        return .error(
            .unit, "its unit \(unit.name) has failed; 'replica log \(quotedName)' says why",
            mend: "\(control) reset-failed \(name) && \(control) start \(name)")
    }

    private var mountFinding: Finding {
        switch (mount, daemon) {
        case (let path?, .none):
            return .error(
                .mount, "its daemon is gone and left a dead mount on \(path)",
                mend: DeadMount.mend(name, ControlFilePath(path)))
        case (let path?, _): return .fine(.mount, "mounted on \(path)")
        case (nil, .answers(_, let path?)):
            let word = ShellWord.quoted(path)
            if let cover {
                let place = cover == path ? "another one" : "another one on \(cover)"
                return .warning(
                    .mount, "its mount on \(path) is covered by \(place)",
                    mend: "\(user == 0 ? "" : "sudo ")umount \(ShellWord.quoted(cover))")
            }
            return .warning(
                .mount, "its mount on \(path) can't be seen from here: detached, or elsewhere",
                mend: "replica unmount \(quotedName) && replica mount \(quotedName) \(word)")
        case (nil, _):
            guard let missingPlace else { return .fine(.mount, "not mounted") }
            return .error(
                .mount, "\(missingPlace), where it is to be mounted, is missing",
                mend: "\(missingPlaceIsOwn ? "" : "sudo ")mkdir -p \(ShellWord.quoted(missingPlace))")
        }
    }

    private var descriptorsFinding: Finding? {
        guard let descriptors, descriptors.isNearlyAll else { return nil }
        let limit = descriptors.limit
        let process = if case .answers(let process, _) = daemon { "\(process)" } else { "PID" }
        return .warning(
            .descriptors, "its daemon has \(descriptors.used) of \(limit) files open",
            mend: "\(user == 0 ? "" : "sudo ")prlimit --nofile=\(limit * 4):\(limit * 4) --pid \(process)")
    }

    private var diskFinding: Finding {
        let evict = "replica evict \(quotedName):"
        switch disk.outcome {
        case .failed(let reason): return .error(.disk, "\(disk.path): \(reason)")
        case .silent: return .error(.disk, "\(disk.path) does not answer")
        case .seen: break
        }
        if !disk.isWritable {
            return .error(.disk, "\(disk.path) can't be written", mend: allowWriting(disk))
        }
        if !disk.hasAttributes {
            return .error(.disk, "\(disk.path): the filesystem lacks extended attributes, which placeholders need")
        }
        if disk.isFull, daemon == .none, !hasReserve {
            return .error(
                .disk,
                "the disk of \(disk.path) is full, and no daemon can start there: remove another file from it, "
                    + "then '\(evict)' frees more")
        }
        if let finding = spaceFinding(.disk, disk, mend: evict) { return finding }
        return .fine(.disk, disk.freeWords)
    }

    private func allowWriting(_ place: DiskFacts) -> String {
        let (sudo, path) = (user == 0 ? "" : "sudo ", ShellWord.quoted(place.path))
        guard !place.isReadOnly else { return "\(sudo)mount -o remount,rw \"$(findmnt -nf -o TARGET -T \(path))\"" }
        return "\(sudo)chown \(user) \(path) && \(sudo)chmod u+rwx \(path)"
    }

    private var storeFinding: Finding {
        switch store {
        case .folder(let place): return finding(ofStoreAt: place)
        case .unmounted(let place, let mountpoint):
            return .error(
                .store, "\(place.path) is missing, and the disk of \(mountpoint) is not mounted",
                mend: "\(user == 0 ? "" : "sudo ")mount \(ShellWord.quoted(mountpoint))")
        case .server(let url): return .fine(.store, "\(url) is not contacted; see 'replica status'")
        case .program(let scheme, nil):
            let program = StoreProgramSearch.program(of: scheme)
            return .error(
                .store, "\(program) is not installed; 'replica stores' lists the searched folders",
                mend: installing(program))
        case .program(_, let path?): return .fine(.store, "its program is \(path)")
        case .invalid(let reason): return .error(.store, reason)
        }
    }

    /// Ours come with the others; of any other, only its author knows where it is.
    private func installing(_ program: String) -> String {
        guard !["s3", "webdav", "rclone"].contains(where: { StoreProgramSearch.program(of: $0) == program }) else {
            return (user == 0 ? "" : "sudo ") + PassthroughFacts.installing(into: prefix)
        }
        let folder = user == 0 ? "/usr/local/lib" : "~/.local/lib"
        return "install -D -m 755 \(program) \(folder)/replica/stores/\(program)"
    }

    private func finding(ofStoreAt place: DiskFacts) -> Finding {
        switch place.outcome {
        case .failed(let reason):
            return .error(.store, "\(place.path): \(reason); if it is on another disk or server, mount that")
        case .silent: return .error(.store, "\(place.path) does not answer")
        case .seen: break
        }
        if !place.isWritable { return .error(.store, "\(place.path) can't be written", mend: allowWriting(place)) }
        if let finding = spaceFinding(.store, place, mend: nil) { return finding }
        if !place.hasAttributes {
            return .warning(
                .store,
                "\(place.path): the filesystem lacks extended attributes: tags stay local, and a file that "
                    + "another client renames is deleted and created again")
        }
        return .fine(.store, "\(place.freeWords) in \(place.path)")
    }

    private var credentialsFinding: Finding {
        switch credentials {
        case .none: .fine(.credentials, "it uses no credentials file")
        case .good: .fine(.credentials, "only their owner can read them")
        case .kept(.secretService): .fine(.credentials, "they are in the Secret Service")
        case .kept(.file(let path, _)): .fine(.credentials, "they are in \(path), which only its owner can read")
        case .unusable(let reason): .error(.credentials, reason)
        case .missing(let path, let reason): .error(.credentials, "\(path): \(reason)")
        case .closed(let path, let owner):
            .error(
                .credentials, "\(path) can't be read by its user",
                mend: owner == user
                    ? "chmod 600 \(ShellWord.quoted(path))" : "sudo chown \(user) \(ShellWord.quoted(path))")
        case .readable(let path):
            .error(.credentials, "\(path) can be read by others", mend: "chmod 600 \(ShellWord.quoted(path))")
        case .foreign(let path):
            .error(
                .credentials, "\(path) belongs to another user",
                mend: "\(user == 0 ? "" : "sudo ")chown \(user) \(ShellWord.quoted(path))")
        }
    }
}
