import Glibc

/// What a test finds wrong on a thread that Swift Testing doesn't know.
final class Checks: @unchecked Sendable {  // The mutex guards the list.
    private var mutex = pthread_mutex_t()
    private var found: [String] = []

    init() { pthread_mutex_init(&mutex, nil) }

    var failures: [String] {
        pthread_mutex_lock(&mutex)
        defer { pthread_mutex_unlock(&mutex) }
        return found
    }

    func fail(_ what: String, line: Int = #line) {
        pthread_mutex_lock(&mutex)
        found.append("line \(line): \(what)")
        pthread_mutex_unlock(&mutex)
    }

    func expect(_ condition: Bool, _ what: String, line: Int = #line) {
        if !condition { fail(what, line: line) }
    }

    func equal<Value: Equatable>(_ left: Value, _ right: Value, _ what: String = "", line: Int = #line) {
        if left != right { fail("\(what) \(left) is not \(right)", line: line) }
    }

    /// The result of a system call that should succeed.
    @discardableResult
    func call<Number: SignedInteger>(_ result: Number, _ what: String = "", line: Int = #line) -> Number {
        if result < 0 { fail("\(what) \(String(cString: strerror(errno)))", line: line) }
        return result
    }

    /// A system call that should fail with `error`.
    func refused<Number: SignedInteger>(_ result: Number, _ error: Int32, line: Int = #line) {
        if result >= 0 { return fail("succeeded", line: line) }
        if errno != error { fail("\(String(cString: strerror(errno)))", line: line) }
    }
}
