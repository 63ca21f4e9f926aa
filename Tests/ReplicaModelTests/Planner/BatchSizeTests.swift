import Testing

@testable import ReplicaModel

/// How many calls are recorded in one transaction.
@Suite struct BatchSizeTests {
    @Test(arguments: [
        // Of calls of a tenth of a millisecond as many as there may be; of a millisecond, what takes fifty.
        (busy: 0.0016, calls: 16, sinceEdit: 1.0, next: 64), (0.016, 16, 1, 50), (0.064, 64, 1, 50),
        // Calls over a network are left to other tasks.
        (0.32, 16, 1, 16), (5, 1, 1, 16),
        // Programs make changes, or the clock was set back.
        (0.0016, 16, 0.001, 16), (0, 16, 1, 16), (-1, 16, 1, 16),
    ])
    func theBatchSizeFollowsTheCallDuration(busy: Double, calls: Int, sinceEdit: Double, next: Int) {
        #expect(batchSize(after: busy, calls: calls, sinceEdit: sinceEdit) == next)
    }
}
