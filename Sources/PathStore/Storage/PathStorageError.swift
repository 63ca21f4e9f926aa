/// Why a storage did not do what it was asked.
package enum PathStorageError: Error, Hashable, Sendable {
    /// Nothing is at the path, or the folder above it is gone: positively.
    case notFound
    /// Something is where nothing was expected; what it is where known.
    case taken(PathEntry?)
    /// The file has another version; its present state where known.
    case changed(PathEntry?)
    /// A folder to remove has children.
    case notEmpty
    /// The person must log in, as the text says.
    case notAuthenticated(String)
    /// No room left for this person.
    case insufficientQuota(String)
    /// Nothing can be changed now, while it can be read.
    case readOnly(String)
    /// The storage asks for a pause of so many seconds, 0 where it names none.
    case busy(seconds: Double)
    /// This one path cannot be had or changed now, as the text says.
    case unavailable(String)
    /// This will not work until something changes, as the text says: a name that it does not take, say.
    case refused(String)
    /// The storage cannot do this at all.
    case unsupported(String)
    /// No answer, an answer that makes no sense, or a passing failure, as the text says.
    case unreachable(String)
    case cancelled
}
