internal import FuseMount
internal import ReplicaModel

extension Caller {
    init(_ context: RequestContext) {
        self.init(user: context.uid, group: context.gid, umask: UInt16(truncatingIfNeeded: context.umask))
    }
}
