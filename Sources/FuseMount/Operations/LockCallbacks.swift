internal import CFuse

func addPosixLocks(_ table: inout fuse_lowlevel_ops) {
    table.getlk = { request, node, file, range in
        serve(request) {
            let lock = FileLock(range: range!.pointee, owner: file!.pointee.lock_owner)
            $0.getlk($1.context, node: node, handle: file!.pointee.fh, lock: lock, reply: $1.reply())
        }
    }
    table.setlk = { request, node, file, range, wait in
        serve(request) {
            let lock = FileLock(range: range!.pointee, owner: file!.pointee.lock_owner)
            $0.setlk(
                $1.context, node: node, handle: file!.pointee.fh, lock: lock, wait: wait != 0, reply: $1.reply())
        }
    }
}

func addFlock(_ table: inout fuse_lowlevel_ops) {
    table.flock = { request, node, file, operation in
        serve(request) {
            let file = file!.pointee
            $0.flock(
                $1.context, node: node, handle: file.fh, owner: file.lock_owner, operation: operation,
                reply: $1.reply())
        }
    }
}
