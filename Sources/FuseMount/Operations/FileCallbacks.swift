internal import CFuse

func addFileOperations(_ table: inout fuse_lowlevel_ops) {
    table.open = { request, node, file in
        serve(request) { $0.open($1.context, node: node, options: OpenOptions(file!), reply: $1.reply()) }
    }
    table.create = { request, parent, name, mode, file in
        serve(request) {
            let options = OpenOptions(file!)
            if cfuse_current_is_tmpfile() {
                $0.tmpfile($1.context, parent: parent, mode: mode, options: options, reply: $1.reply())
            } else {
                $0.create($1.context, parent: parent, name: name!, mode: mode, options: options, reply: $1.reply())
            }
        }
    }
    table.flush = { request, node, file in
        serve(request) {
            let file = file!.pointee
            $0.flush($1.context, node: node, handle: file.fh, lockOwner: file.lock_owner, reply: $1.reply())
        }
    }
    table.release = { request, node, file in
        serve(request) {
            let file = file!.pointee
            $0.release($1.context, node: node, handle: file.fh, flags: file.flags, reply: $1.reply())
        }
    }
    table.fsync = { request, node, dataOnly, file in
        serve(request) {
            $0.fsync(
                $1.context, node: node, handle: file!.pointee.fh, dataOnly: dataOnly != 0, reply: $1.reply())
        }
    }
}

func addDataOperations(_ table: inout fuse_lowlevel_ops) {
    table.read = { request, node, size, offset, file in
        serve(request) {
            $0.read(
                $1.context, node: node, handle: file!.pointee.fh, offset: Int64(offset), size: size,
                reply: $1.reply())
        }
    }
    table.write = { request, node, bytes, size, offset, file in
        serve(request) {
            $0.write(
                $1.context, node: node, handle: file!.pointee.fh, offset: Int64(offset),
                buffer: UnsafeRawBufferPointer(start: bytes, count: size), options: WriteOptions(file!),
                reply: $1.reply())
        }
    }
    table.fallocate = { request, node, mode, offset, length, file in
        serve(request) {
            $0.fallocate(
                $1.context, node: node, handle: file!.pointee.fh, mode: mode, offset: Int64(offset),
                length: Int64(length), reply: $1.reply())
        }
    }
    table.lseek = { request, node, offset, whence, file in
        serve(request) {
            $0.lseek(
                $1.context, node: node, handle: file!.pointee.fh, offset: Int64(offset), whence: whence,
                reply: $1.reply())
        }
    }
    table.ioctl = { request, node, number, _, file, _, input, inputSize, room in
        serve(request) {
            $0.ioctl(
                $1.context, node: node, handle: file!.pointee.fh, request: number,
                input: UnsafeRawBufferPointer(start: input, count: inputSize), room: room, reply: $1.reply())
        }
    }
    table.copy_file_range = { request, node, offset, file, toNode, toOffset, toFile, length, flags in
        serve(request) {
            $0.copyRange(
                $1.context, from: FileRange(node: node, handle: file!.pointee.fh, offset: Int64(offset)),
                to: FileRange(node: toNode, handle: toFile!.pointee.fh, offset: Int64(toOffset)), length: length,
                flags: flags, reply: $1.reply())
        }
    }
}

extension OpenOptions {
    init(_ file: UnsafeMutablePointer<fuse_file_info>) {
        self.init(flags: file.pointee.flags, killPrivileges: cfuse_current_kills_privileges())
    }
}

extension WriteOptions {
    init(_ file: UnsafeMutablePointer<fuse_file_info>) {
        self.init(
            flags: file.pointee.flags, killPrivileges: cfuse_current_kills_privileges(),
            fromPageCache: file.pointee.writepage != 0)
    }
}
