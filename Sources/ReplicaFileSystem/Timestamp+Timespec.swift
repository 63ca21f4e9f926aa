internal import Glibc
internal import ReplicaModel

extension Timestamp {
    init(_ time: Glibc.timespec) {
        self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(subsecond))
    }
}
