/// Saturating arithmetic for sizes, offsets and times that come from outside: a file may have any size and date, and
/// none of them may crash the process.
extension Int64 {
    /// The sum, or the nearest representable number.
    package func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest representable number.
    package func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, isTooFar) = subtractingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .max : .min) : difference
    }

    /// The next multiple of `block`, which is a power of two; the largest number if that is not representable.
    package func roundedUp(toMultipleOf block: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(block - 1)
        return isTooFar ? .max : sum & ~(block - 1)
    }
}
