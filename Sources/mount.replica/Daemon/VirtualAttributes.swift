import Foundation
import ReplicaFileSystem
import ReplicaModel
import SystemPackage

/// The values of `user.replica.*` (CONTROL.md), as any program can read them.
struct VirtualAttributes: ItemStatusSource {
    let domain: Domain

    func value(of attribute: String, for item: ItemNumber) -> [UInt8]? {
        guard let report = domain.item(item) else { return nil }
        return text(attribute, report).map { Array($0.utf8) }
    }

    private func text(_ attribute: String, _ report: ItemReport) -> String? {
        switch attribute {
        case "state": state(report)
        case "id": report.identifier?.rawValue
        case "version.content": report.version?.content
        case "version.metadata": report.version?.metadata
        case "error": report.error.map { "\($0.code): \($0.message)" }
        case "progress": report.transfer.map { "\($0.isUpload ? "upload" : "download") \($0.done)/\($0.size)" }
        case "pin": report.pin == .pinned ? "pinned" : report.pin == .unpinned ? "unpinned" : nil
        case "capabilities": String(report.capabilities.rawValue)
        default: nil
        }
    }

    /// `dataless`, `partial` or `materialized`, followed by other states.
    private func state(_ report: ItemReport) -> String {
        var words = [report.materialization == .whole ? "materialized" : "\(report.materialization)"]
        if report.isPinned { words.append("pinned") }
        if report.isPending { words.append("pending") }
        if report.isConflict { words.append("conflict") }
        if let transfer = report.transfer { words.append(transfer.isUpload ? "uploading" : "downloading") }
        return words.joined(separator: " ")
    }

    func setPin(_ value: [UInt8]?, of item: ItemNumber) throws(Errno) {
        let isPinned: Bool
        switch value.map({ String(decoding: $0, as: UTF8.self) }) {
        case "pinned", "1", "yes": isPinned = true
        case nil, "unpinned", "0", "no", "": isPinned = false
        default: throw .invalidArgument
        }
        try domain.setPin(isPinned, of: item)
    }
}
