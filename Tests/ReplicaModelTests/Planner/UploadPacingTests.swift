import Testing

@testable import ReplicaModel

/// How the sender yields to programs.
@Suite struct UploadPacingTests {
    @Test(arguments: [
        // No recent edit, or a clock that was set back.
        (busy: 0.01, workers: 1, sinceEdit: 0.02, rest: 0.0),
        (0.01, 8, 60, 0), (0.01, 8, -1, 0), (-1, 1, 0, 0), (0, 1, 0, 0),
        // A stream of edits: one task works a quarter of the time, of many a third of one on average.
        (0.01, 1, 0.001, 0.03), (0.005, 8, 0.001, 0.12),
        // Slow calls wait for the network.
        (0.5, 1, 0, 0.2), (5, 8, 0.019, 0.2),
    ])
    func uploadsYieldToPrograms(busy: Double, workers: Int, sinceEdit: Double, rest: Double) {
        #expect(uploadPause(after: busy, workers: workers, sinceEdit: sinceEdit) == rest)
    }

    @Test(arguments: [(0.0, true), (0.019, true), (0.02, false), (60, false), (-1, false)])
    func aStreamOfEditsHasNoPause(sinceEdit: Double, isStream: Bool) {
        #expect(ReplicaModel.isStream(sinceEdit: sinceEdit) == isStream)
    }
}
