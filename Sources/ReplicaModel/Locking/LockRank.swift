import Glibc

/// The order in which a thread takes locks: only one of a higher rank than all that it holds, so that no two threads can
/// wait for each other. Debug builds, which the tests run, end at once where that is not so.
package enum LockRank: Int, Sendable {
    /// What the database is to survive a power cut with: records, and so takes the next two.
    case durable
    /// The one writer of the database, which takes what changed from the tree.
    case recording
    /// An open file, while it is opened again because another content took its place.
    case openFile
    /// One file's bytes from the store, kept apart from what cuts the file.
    case fill
    /// Tree and nodes.
    case tree
    /// A store: events of its directory are taken in, by one thread at a time.
    case storeEvents
    /// A store: its whole tree is walked, by one thread at a time.
    case storeScan
    /// A store: what is known of its tree.
    case storeIndex
    /// Held for a few instructions, over which nothing else is taken.
    case leaf
    /// A clock or a counter, which may be asked anywhere.
    case innermost
}

#if DEBUG
    extension LockRank {
        /// A bit for each rank that the calling thread holds.
        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            precondition(pthread_key_create(&key, nil) == 0, "no key for the locks that a thread holds")
            return key
        }()

        private static var held: Int { Int(bitPattern: pthread_getspecific(key)) }

        private static func hold(_ ranks: Int) { pthread_setspecific(key, UnsafeRawPointer(bitPattern: ranks)) }

        func enter() {
            let held = Self.held
            precondition(held >> rawValue == 0, "a lock of rank \(self) is taken while others are held: \(held)")
            Self.hold(held | 1 << rawValue)
        }

        func leave() { Self.hold(Self.held & ~(1 << rawValue)) }
    }
#endif
