/// A line of `replica probe`: what a store does with one thing.
package struct ProbeFinding: Codable, Hashable, Sendable {
    /// What it means for a person.
    package enum Verdict: String, Codable, Sendable {
        /// It does it, and was seen to.
        case kept
        /// It does it in part: what is lost by that is said.
        case weak
        /// It does not do it: that stays on this machine.
        case local
        /// It says that it does it, and does not.
        case broken
    }

    package let topic: String
    package let verdict: Verdict
    /// In a person's words.
    package let finding: String

    package init(_ topic: String, _ verdict: Verdict, _ finding: String) {
        (self.topic, self.verdict, self.finding) = (topic, verdict, finding)
    }
}
