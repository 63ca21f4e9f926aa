internal import CFuse

func addFolderOperations(_ table: inout fuse_lowlevel_ops) {
    table.opendir = { request, node, file in
        serve(request) { $0.opendir($1.context, node: node, flags: file!.pointee.flags, reply: $1.reply()) }
    }
    table.readdir = { request, node, size, offset, file in
        serve(request) {
            $0.readdir(
                $1.context, node: node, handle: file!.pointee.fh, offset: Int64(offset), size: size,
                reply: $1.reply())
        }
    }
    table.releasedir = { request, node, file in
        serve(request) { $0.releasedir($1.context, node: node, handle: file!.pointee.fh, reply: $1.reply()) }
    }
    table.fsyncdir = { request, node, dataOnly, file in
        serve(request) {
            $0.fsyncdir(
                $1.context, node: node, handle: file!.pointee.fh, dataOnly: dataOnly != 0, reply: $1.reply())
        }
    }
}

func addReadDirectoryPlus(_ table: inout fuse_lowlevel_ops) {
    table.readdirplus = { request, node, size, offset, file in
        serve(request) {
            $0.readdirplus(
                $1.context, node: node, handle: file!.pointee.fh, offset: Int64(offset), size: size,
                reply: $1.reply())
        }
    }
}
