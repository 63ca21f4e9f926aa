internal import CLinux
internal import Glibc

/// A system thread that runs one closure. Not for the path of a request.
// Unchecked: a pthread_t is a plain number that any thread may join.
package struct Thread: @unchecked Sendable {
    private let handle: pthread_t

    /// Starts `body`; ``join()`` or ``detach()`` has to follow, once.
    /// - Parameter name: What `ps -T` shows, at most 15 bytes; by default the program's.
    /// - Returns: Nil if no thread could be created.
    package init?(name: String? = nil, _ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(
            Box {
                if let name { cl_name_thread(pthread_self(), name) }
                body()
            })
        var handle = pthread_t()
        guard pthread_create(&handle, nil, Self.start, box.toOpaque()) == 0 else {
            box.release()
            return nil
        }
        self.handle = handle
    }

    /// Waits for the end of the closure.
    package func join() {
        pthread_join(handle, nil)
    }

    /// It will not be joined.
    package func detach() {
        pthread_detach(handle)
    }

    /// Runs `body` on a new, detached thread.
    /// - Returns: False if no thread could be created; `body` is then not run.
    package static func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = Thread(body) else { return false }
        thread.detach()
        return true
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    private static let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
    }
}
