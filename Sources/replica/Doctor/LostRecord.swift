import FoundationEssentials
import Glibc
import ReplicaControl
import SystemPackage

/// The state of a domain whose `domain.json` is missing: no command finds it by its name.
enum LostRecord {
    /// The facts about each of them.
    static func all(in directories: [DomainDirectory]) -> [DomainFacts] {
        directories.flatMap { directory in
            // A folder that can't be read is an error of the list of domains.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.root.string)) ?? []
            return names.sorted().compactMap { facts(named: $0, in: directory) }
        }
    }

    private static func facts(named text: String, in directory: DomainDirectory) -> DomainFacts? {
        let state = directory.root.appending(text)
        // An entry of another name is not a domain.
        guard let name = try? DomainName(text), StateFileName.isWithoutRecord(state) else { return nil }
        var facts = DomainFacts()
        (facts.name, facts.user) = (name.text, geteuid())
        // Only a person knows what was there; replica-domains(5) has the form.
        let record = state.appending(StateFileName.record.rawValue)
        facts.state = .unreadable(
            state, "\(StateFileName.record.rawValue) is missing", mend: "${EDITOR:-editor} \(ShellWord.quoted(record))"
        )
        return facts
    }
}
