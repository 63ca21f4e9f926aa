internal import Glibc

/// A lock's place in the order in which a thread takes locks: only one of a higher rank than all that it holds, so that
/// no deadlock is possible. Debug builds, which the tests use, terminate on a violation.
///
/// A module with several ranks names them in an extension.
package struct LockRank: RawRepresentable, Hashable, Sendable {
    /// 0 to 47; the two below have the numbers after them.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Held for a few instructions, during which no other lock is taken.
    package static let leaf = LockRank(rawValue: 48)
    /// A clock or a counter, which may be read anywhere.
    package static let innermost = LockRank(rawValue: 49)
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

        /// The calling thread takes a lock of this rank.
        @usableFromInline
        package func enter() {
            let held = Self.held
            precondition(held >> rawValue == 0, "a lock of rank \(rawValue) is taken while others are held: \(held)")
            Self.hold(held | 1 << rawValue)
        }

        /// The calling thread releases a lock of this rank.
        @usableFromInline
        package func leave() { Self.hold(Self.held & ~(1 << rawValue)) }
    }
#endif
