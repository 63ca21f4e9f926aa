import CLinux
import Glibc
import ReplicaTestSupport
import SystemPackage

@testable import ReplicaModel

extension World {
    /// Names come, move and go.
    func arrange(_ step: LocalStep, _ daemon: DaemonRun) throws {
        switch step {
        case .rename(let item, let folder, let name, let mayReplace):
            guard let item = pick(item, daemon) else { return }
            try rename(item, into: pickFolder(folder, daemon), Names[name], mayReplace, daemon)
        case .exchange(let left, let right): try exchange(left, right, daemon)
        case .remove(let item):
            if let item = pick(item, daemon) { try remove(item, daemon) }
        case .removeAll(let item):
            guard let item = pick(item, daemon, { $0.kind == .folder }) else { return }
            let below = seen(daemon).filter { $0.path.hasPrefix(item.path + "/") }
            for entry in below.reversed() + [item] { try remove(entry, daemon) }
        case .makeFolder(let folder, let name):
            let folder = pickFolder(folder, daemon)
            let made = try daemon.replica.makeFolder(Names[name], in: folder.number, mode: 0o755, caller: Self.caller)
            daemon.replica.forget(made.number, count: 1)
            say("  mkdir \(folder.path)/\(Names[name])")
        case .makeSymlink(let folder, let name, let content):
            let folder = pickFolder(folder, daemon)
            let made = try daemon.replica.makeSymlink(
                Names[name], in: folder.number, target: Content(serial: content.serial).bytes, caller: Self.caller)
            daemon.replica.forget(made.number, count: 1)
            say("  symlink \(folder.path)/\(Names[name])")
        case .link(let file, let folder, let name):
            guard let file = pick(file, daemon, { $0.kind == .file }) else { return }
            let folder = pickFolder(folder, daemon)
            let made = try daemon.replica.link(file.number, as: Names[name], in: folder.number)
            daemon.replica.forget(made.number, count: 1)
            say("  link \(file.path) as \(folder.path)/\(Names[name])")
        default: break
        }
    }

    private func rename(
        _ item: Seen, into folder: Seen, _ name: FileName, _ mayReplace: Bool, _ daemon: DaemonRun
    ) throws {
        let other = entry(name, in: folder, daemon)
        let loss = other.map { self.loss(of: $0, isRemoved: true, daemon) } ?? Loss()
        // The item renamed becomes the other: what it was is gone from the store.
        var own = self.loss(of: item, isRemoved: true, daemon)
        own.contents = []
        try daemon.replica.rename(
            item.name, in: item.parent, to: name, in: folder.number, flags: mayReplace ? [] : .noReplace)
        if let other, other.number != item.number || other.kind == .folder { rules.settle(loss + own) }
        say("  rename \(item.path) to \(folder.path)/\(name)")
    }

    private func exchange(_ left: Int, _ right: Int, _ daemon: DaemonRun) throws {
        guard let left = pick(left, daemon), let right = pick(right, daemon) else { return }
        try daemon.replica.rename(left.name, in: left.parent, to: right.name, in: right.parent, flags: .exchange)
        say("  exchange \(left.path) and \(right.path)")
    }

    private func remove(_ item: Seen, _ daemon: DaemonRun) throws {
        let loss = loss(of: item, isRemoved: true, daemon)
        try daemon.replica.remove(item.name, in: item.parent, isFolder: item.kind == .folder)
        rules.settle(loss)
        say("  remove \(item.path)")
    }

    /// Attributes change.
    func describe(_ step: LocalStep, _ daemon: DaemonRun) throws {
        switch step {
        case .changeMode(let item, let mode):
            guard let item = pick(item, daemon, { $0.kind != .symlink }) else { return }
            var change = AttributeChange()
            change.mode = item.kind == .folder ? mode | 0o700 : mode
            _ = try daemon.replica.setAttributes(change, of: item.number)
            say("  chmod \(String(mode, radix: 8)) \(item.path)")
        case .changeTime(let item, let seconds):
            guard let item = pick(item, daemon) else { return }
            var change = AttributeChange()
            change.modified = .to(Timestamp(seconds: Int64(seconds), nanoseconds: 0))
            _ = try daemon.replica.setAttributes(change, of: item.number)
            say("  touch \(item.path)")
        case .setXattr(let item, let content):
            try setXattr("user.note", Content(serial: content.serial).bytes, item, daemon)
        case .removeXattr(let item): try setXattr("user.note", nil, item, daemon)
        case .tag(let item, let content): try setXattr("user.xdg.tags", Array("t\(content.serial)".utf8), item, daemon)
        default: break
        }
    }

    private func setXattr(_ name: String, _ value: [UInt8]?, _ item: Int, _ daemon: DaemonRun) throws {
        guard let item = pick(item, daemon, { $0.kind != .symlink }) else { return }
        if let value {
            let result = value.withUnsafeBytes { bytes in
                Result { try daemon.replica.setXattr(name, bytes, flags: 0, of: item.number) }
            }
            try result.get()
        } else {
            try daemon.replica.setXattr(name, nil, flags: 0, of: item.number)
        }
        say("  \(value == nil ? "remove" : "set") \(name) of \(item.path)")
    }
}
