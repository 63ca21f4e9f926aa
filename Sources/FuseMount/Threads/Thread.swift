internal import Glibc

/// A pthread that runs one closure. Not for the path of a request.
struct Thread: @unchecked Sendable {
    // Unchecked: a pthread_t is a plain number that any thread may join.
    private let handle: pthread_t

    /// Starts `body`. Nil when the system has no thread left.
    init?(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        var handle = pthread_t()
        guard pthread_create(&handle, nil, Self.start, box.toOpaque()) == 0 else {
            box.release()
            return nil
        }
        self.handle = handle
    }

    func join() {
        pthread_join(handle, nil)
    }

    func detach() {
        pthread_detach(handle)
    }

    private final class Box {
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
