import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// Short histories with a wall clock that is set, and with items about which the store does not answer.
@Suite struct SimulatedFaultTests {
    @Test(arguments: [-864_000, 864_000, -900_000_000, 900_000_000])
    func aClockChangeDelaysNothing(_ seconds: Int) async {
        await expectNoFault(
            .alone,
            [
                .local(.create(folder: 1, name: 1, content: Content(serial: 1))),
                .setClock(seconds),
                .send,
                .local(.create(folder: 1, name: 2, content: Content(serial: 2))),
                .record,
                .setClock(seconds),
                .restart,
            ])
    }

    @Test(arguments: [[], [Step.restart], [.crash]])
    func unansweredItemsAreQueriedAgain(_ steps: [Step]) async {
        await expectNoFault(
            .shared,
            [
                .remote(.create(folder: 0, name: 0, Content(serial: 1))),
                .receive,
                .refuse(0, times: 2),
                .remote(.delete(0)),
                .expireAnchors,
                .receive,
            ] + steps)
    }

    private func expectNoFault(
        _ profile: Profile, _ steps: [Step], location: SourceLocation = #_sourceLocation
    ) async {
        let outcome = await Simulation.run(1, profile, steps)
        #expect(outcome.failure == nil, "\(outcome.report)", sourceLocation: location)
    }
}
