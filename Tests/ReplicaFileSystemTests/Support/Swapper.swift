import CLinux
import Glibc
import ReplicaTestSupport

/// A user who exchanges names as fast as possible.
final class Swapper: @unchecked Sendable {  // The mutex guards the state.
    private var mutex = pthread_mutex_t()
    private var isOver = false
    private var count = 0
    private let ended = Flag()

    /// - Parameters:
    ///   - pairs: What is exchanged, one after the other.
    ///   - folder: A descriptor of the folder of the names.
    ///   - user: Who does it.
    init(_ pairs: [(String, String)], in folder: Int32 = AT_FDCWD, as user: UInt32 = 0) {
        pthread_mutex_init(&mutex, nil)
        startThread { [self] in
            setfsgid(user)
            setfsuid(user)
            while !locked({ isOver }) {
                var exchanged = 0
                for (one, other) in pairs {
                    if renameat2(folder, one, folder, other, UInt32(CL_RENAME_EXCHANGE)) == 0 { exchanged += 1 }
                }
                locked { count += exchanged }
            }
            ended.raise()
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(&mutex)
        defer { pthread_mutex_unlock(&mutex) }
        return body()
    }

    /// How often it went.
    var swaps: Int { locked { count } }

    /// Waits until it went so often; false when it does not.
    func hasSwapped(_ times: Int) -> Bool { blockUntil { swaps >= times } }

    func end() {
        locked { isOver = true }
        ended.wait()
    }
}

/// A folder that nobody may touch, as it is: the names in it with what they are, hold and were changed.
func portrait(of folder: String) -> [String] {
    names(in: folder).map { name in
        let path = folder + "/" + name
        let status = status(path)
        let modified = status.map { "\($0.st_mtim.tv_sec).\($0.st_mtim.tv_nsec)" } ?? "gone"
        var list = [CChar](repeating: 0, count: 1000)
        let attributes = llistxattr(path, &list, list.count)
        let owner = "\(status?.st_uid ?? 0):\(status?.st_gid ?? 0)"
        return "\(name) \(status?.st_mode ?? 0) \(owner) \(modified) \(attributes) \(readFile(path) ?? "")"
    }
}
