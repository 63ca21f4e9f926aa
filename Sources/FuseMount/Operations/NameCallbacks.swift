internal import CFuse

func addNameOperations(_ table: inout fuse_lowlevel_ops) {
    table.lookup = { request, parent, name in
        serve(request) { $0.lookup($1.context, parent: parent, name: name!, reply: $1.reply()) }
    }
    table.forget = { request, node, count in
        serve(request) { fileSystem, request in
            withUnsafePointer(to: Forget(node: node, count: count)) {
                fileSystem.forget(UnsafeBufferPointer(start: $0, count: 1))
            }
            fuse_reply_none(request.pointer)
        }
    }
    table.forget_multi = { request, count, nodes in
        serve(request) { fileSystem, request in
            // fuse_forget_data has the same two numbers in the same order.
            let first = UnsafeRawPointer(nodes!).assumingMemoryBound(to: Forget.self)
            fileSystem.forget(UnsafeBufferPointer(start: first, count: count))
            fuse_reply_none(request.pointer)
        }
    }
    addMakingOperations(&table)
    table.unlink = { request, parent, name in
        serve(request) { $0.unlink($1.context, parent: parent, name: name!, reply: $1.reply()) }
    }
    table.rmdir = { request, parent, name in
        serve(request) { $0.rmdir($1.context, parent: parent, name: name!, reply: $1.reply()) }
    }
    table.rename = { request, parent, name, newParent, newName, flags in
        serve(request) {
            $0.rename(
                $1.context, parent: parent, name: name!, newParent: newParent, newName: newName!,
                flags: RenameFlags(rawValue: flags), reply: $1.reply())
        }
    }
    table.readlink = { request, node in
        serve(request) { $0.readlink($1.context, node: node, reply: $1.reply()) }
    }
}

private func addMakingOperations(_ table: inout fuse_lowlevel_ops) {
    table.mknod = { request, parent, name, mode, device in
        serve(request) {
            $0.mknod(
                $1.context, parent: parent, name: name!, mode: mode, device: UInt64(device), reply: $1.reply())
        }
    }
    table.mkdir = { request, parent, name, mode in
        serve(request) { $0.mkdir($1.context, parent: parent, name: name!, mode: mode, reply: $1.reply()) }
    }
    table.symlink = { request, target, parent, name in
        serve(request) {
            $0.symlink($1.context, target: target!, parent: parent, name: name!, reply: $1.reply())
        }
    }
    table.link = { request, node, parent, name in
        serve(request) { $0.link($1.context, node: node, parent: parent, name: name!, reply: $1.reply()) }
    }
}
