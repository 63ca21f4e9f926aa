internal import FuseMount

/// The process that changes a file's bytes or owner, as far as it matters for set-user-ID and set-group-ID bits.
struct WriterPrivileges: Sendable {
    private let user: UInt32
    private let group: UInt32
    private let thread: Int32

    init(_ context: RequestContext) {
        (user, group, thread) = (context.uid, context.gid, context.pid)
    }

    /// CAP_FSETID of capabilities(7).
    private static let setIDCapability: UInt64 = 1 << 4

    /// Whether its writes keep the bits. Only root is assumed to have that privilege.
    var keepsSetID: Bool {
        guard user == 0, let field = ProcessStatus(of: thread).field("CapEff:") else { return false }
        return (UInt64(field, radix: 16) ?? 0) & Self.setIDCapability != 0
    }

    /// Whether set-group-ID of a file that its group may not execute is kept: members of the group keep it. If nothing is known
    /// about the process, it counts as a member of the request's group only.
    @Sendable func keepsSetGroupID(of group: UInt32) -> Bool {
        if group == self.group || keepsSetID { return true }
        let groups = ProcessStatus(of: thread).field("Groups:") ?? ""
        return groups.split(separator: " ").contains { UInt32($0) == group }
    }
}
