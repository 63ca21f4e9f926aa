/// A line of `replica probe`: the result for one feature of a store.
package struct ProbeFinding: Codable, Hashable, Sendable {
    /// What the result means.
    package enum Verdict: String, Codable, Sendable {
        /// It was tested and works.
        case kept
        /// It works in part: the text says what can be lost.
        case weak
        /// It is not supported: such data stays on this machine.
        case local
        /// The store declares it, but the test failed.
        case broken
    }

    package let topic: String
    package let verdict: Verdict
    /// A description for users.
    package let finding: String

    package init(_ topic: String, _ verdict: Verdict, _ finding: String) {
        (self.topic, self.verdict, self.finding) = (topic, verdict, finding)
    }
}
