/// Sums of sizes, offsets and times that come from outside: a file may have any size and date, and none of them ends the
/// process.
extension Int64 {
    /// The sum, or the nearest number there is.
    package func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number there is.
    package func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, isTooFar) = subtractingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .max : .min) : difference
    }

    /// The next multiple of `block`, a power of two; the largest number there is when that would be larger.
    package func roundedUp(toMultipleOf block: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(block - 1)
        return isTooFar ? .max : sum & ~(block - 1)
    }
}
