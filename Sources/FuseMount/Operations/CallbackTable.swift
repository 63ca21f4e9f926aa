internal import CFuse
internal import Glibc

/// The table of functions that libfuse calls. No closure here captures anything or is formed on an actor.
func makeOperations(_ features: Features) -> fuse_lowlevel_ops {
    var table = fuse_lowlevel_ops()
    table.`init` = { user, connection in
        Unmanaged<Session>.fromOpaque(user!)._withUnsafeGuaranteedRef { $0.answerInit(connection!) }
    }
    addNameOperations(&table)
    addAttributeOperations(&table)
    addExtendedAttributeOperations(&table)
    addFileOperations(&table)
    addDataOperations(&table)
    addFolderOperations(&table)
    // The kernel sends only requests that are in this table, so these are added only if the filesystem supports them.
    if features.contains(.readDirectoryPlus) { addReadDirectoryPlus(&table) }
    if features.contains(.posixLocks) { addPosixLocks(&table) }
    if features.contains(.flock) { addFlock(&table) }
    return table
}

/// One request: its caller and how to answer.
struct Request {
    let pointer: OpaquePointer
    let lot: Unmanaged<ParkingLot>

    var context: RequestContext {
        let context = fuse_req_ctx(pointer)!.pointee
        return RequestContext(
            uid: context.uid, gid: context.gid, pid: context.pid, umask: context.umask,
            unique: cfuse_current_unique())
    }

    func reply<Answer>() -> Reply<Answer> {
        Reply(request: pointer, lot: lot)
    }
}

/// Finds the filesystem that a request is for, without counting references.
@inline(__always)
func serve(_ request: OpaquePointer?, _ body: (any FileSystem, Request) -> Void) {
    let session = Unmanaged<Session>.fromOpaque(fuse_req_userdata(request!)!)
    session._withUnsafeGuaranteedRef { session in
        body(session.fileSystem, Request(pointer: request!, lot: Unmanaged.passUnretained(session.lot)))
    }
}
