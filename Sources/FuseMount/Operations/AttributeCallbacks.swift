internal import CFuse
internal import Glibc

func addAttributeOperations(_ table: inout fuse_lowlevel_ops) {
    table.getattr = { request, node, file in
        serve(request) {
            let handle = file.map { $0.pointee.fh }
            if cfuse_current_is_statx() {
                $0.statx($1.context, node: node, handle: handle, reply: $1.reply())
            } else {
                $0.getattr($1.context, node: node, handle: handle, reply: $1.reply())
            }
        }
    }
    table.setattr = { request, node, status, valid, file in
        serve(request) {
            let changes = AttributeChanges(status!.pointee, valid: valid)
            let handle = file.map { $0.pointee.fh }
            $0.setattr($1.context, node: node, handle: handle, changes: changes, reply: $1.reply())
        }
    }
    table.access = { request, node, mask in
        serve(request) { $0.access($1.context, node: node, mask: mask, reply: $1.reply()) }
    }
    table.statfs = { request, node in
        serve(request) { $0.statfs($1.context, node: node, reply: $1.reply()) }
    }
}

func addExtendedAttributeOperations(_ table: inout fuse_lowlevel_ops) {
    table.getxattr = { request, node, name, size in
        serve(request) { $0.getxattr($1.context, node: node, name: name!, size: size, reply: $1.reply()) }
    }
    table.setxattr = { request, node, name, value, size, flags in
        serve(request) {
            let bytes = UnsafeRawBufferPointer(start: value, count: size)
            $0.setxattr(
                $1.context, node: node, name: name!, value: bytes, flags: flags,
                killsSetGroupID: cfuse_current_kills_sgid(), reply: $1.reply())
        }
    }
    table.listxattr = { request, node, size in
        serve(request) { $0.listxattr($1.context, node: node, size: size, reply: $1.reply()) }
    }
    table.removexattr = { request, node, name in
        serve(request) { $0.removexattr($1.context, node: node, name: name!, reply: $1.reply()) }
    }
}

extension AttributeChanges {
    /// - Parameter valid: FUSE_SET_ATTR_* bits.
    init(_ status: Glibc.stat, valid: Int32) {
        func has(_ bit: Int32) -> Bool { valid & bit != 0 }
        if has(FUSE_SET_ATTR_MODE) { mode = status.st_mode }
        if has(FUSE_SET_ATTR_UID) { uid = status.st_uid }
        if has(FUSE_SET_ATTR_GID) { gid = status.st_gid }
        if has(FUSE_SET_ATTR_SIZE) { size = Int64(status.st_size) }
        if has(FUSE_SET_ATTR_ATIME) { atime = .at(status.st_atim) }
        if has(FUSE_SET_ATTR_MTIME) { mtime = .at(status.st_mtim) }
        if has(FUSE_SET_ATTR_ATIME_NOW) { atime = .now }
        if has(FUSE_SET_ATTR_MTIME_NOW) { mtime = .now }
        if has(FUSE_SET_ATTR_CTIME) { ctime = status.st_ctim }
        killPrivileges = has(FUSE_SET_ATTR_KILL_SUID) || has(FUSE_SET_ATTR_KILL_SGID)
    }
}
