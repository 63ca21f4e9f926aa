import Testing

@testable import ReplicaModel

@Suite struct DebounceTests {
    private static func failure(retryAt: Double?) -> Failure {
        Failure(code: "serverUnreachable", message: "", attempts: 1, retryAt: retryAt)
    }

    @Test(
        arguments: [
            (0, nil, 0), (100, nil, 101), (100, failure(retryAt: 50), 50), (0, failure(retryAt: 200), 200),
            (100, failure(retryAt: nil), .infinity),
        ] as [(Double, Failure?, Double)])
    func editsAreDebouncedAndFailuresBackOff(changedAt: Double, failure: Failure?, earliest: Double) {
        #expect(earliestUpload(changedAt: changedAt, failure: failure, settle: 1) == earliest)
    }
}
