import CLinux
import Glibc

/// Somebody who exchanges two names as fast as that goes.
final class Swapper: @unchecked Sendable {  // The mutex guards the state.
    private var mutex = pthread_mutex_t()
    private var isOver = false
    private var count = 0
    private let ended = Flag()

    init(_ one: String, _ other: String) {
        pthread_mutex_init(&mutex, nil)
        startThread { [self] in
            while !locked({ isOver }) {
                guard renameat2(AT_FDCWD, one, AT_FDCWD, other, UInt32(CL_RENAME_EXCHANGE)) == 0 else { continue }
                locked { count += 1 }
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
        return "\(name) \(status?.st_mode ?? 0) \(modified) \(readFile(path) ?? "")"
    }
}
