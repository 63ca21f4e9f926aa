/// Why a call of a storage failed.
package enum PathStorageError: Error, Hashable, Sendable {
    /// Nothing is at the path, or its folder is gone: definitely.
    case notFound
    /// An entry is where nothing was expected; the entry, if known.
    case taken(PathEntry?)
    /// The file has another version; its present entry, if known.
    case changed(PathEntry?)
    /// A folder to remove has children.
    case notEmpty
    /// The user must log in, as the text says.
    case notAuthenticated(String)
    /// No space left for this user.
    case insufficientQuota(String)
    /// The storage is read-only now; reading works.
    case readOnly(String)
    /// The storage requests a pause of so many seconds; 0 if it names none.
    case busy(seconds: Double)
    /// This path can't be read or changed now, as the text says.
    case unavailable(String)
    /// This will not work until something changes, as the text says: for example an invalid name.
    case refused(String)
    /// The storage doesn't support this.
    case unsupported(String)
    /// No answer, an invalid answer, or a transient failure, as the text says.
    case unreachable(String)
    case cancelled
}
