import Foundation
import Testing

/// The house rules that no compiler checks.
@Suite struct StyleTests {
    @Test func filesAreShort() {
        for file in SourceTree.swift {
            let count = file.lines.count - 1
            #expect(count <= 500, "\(file.path) is too long")
        }
    }

    @Test func filesAreNamedAfterOneIdea() {
        for file in SourceTree.swift {
            let name = URL(filePath: file.path).lastPathComponent
            for part in ["Manager", "Helper", "Util", "Misc", "Common"] where file.isInSources {
                if name.contains(part) { Issue.record("\(file.path) is named after no idea") }
            }
        }
    }

    /// Code that silences the compiler gives the reason, on the line or near it.
    @Test(arguments: ["try?", "@unchecked Sendable", "nonisolated(unsafe)", "@preconcurrency"])
    func suppressedErrorsGiveAReason(mark: String) {
        for file in SourceTree.swift where file.isInSources {
            for (index, line) in file.lines.enumerated() where has(mark, in: line.code) {
                let near = file.lines[max(0, index - 5)..<min(index + 2, file.lines.count)]
                if line.contains("//") || near.contains(where: \.isComment) { continue }
                Issue.record("\(file.path):\(index + 1): \(mark) without a word on why it is right")
            }
        }
    }

    private func has(_ mark: String, in code: String) -> Bool {
        guard mark.contains("try") else { return code.contains(mark) }
        return code.firstMatch(of: #/\btry\?/#) != nil
    }

    /// fork(2) of a process with threads copies a runtime whose locks may never be released.
    @Test func noProgramForks() {
        for file in SourceTree.swift where file.isInSources {
            for (index, line) in file.lines.enumerated() {
                guard line.code.firstMatch(of: #/\b(v|cl_)?fork\(|"v?fork"/#) == nil else {
                    Issue.record("\(file.path):\(index + 1): a fork; use posix_spawn")
                    continue
                }
            }
        }
    }

    /// Mutexes, conditions and threads by hand are in one module.
    @Test func threadsAreMadeInOnePlace() {
        for file in SourceTree.swift where file.isInSources && file.target != "Threads" {
            for (index, line) in file.lines.enumerated() {
                if line.code.contains(#/\bpthread_(mutex|cond|rwlock|create|join|detach|attr|key)|\bsem_/#) {
                    Issue.record("\(file.path):\(index + 1): use Threads")
                }
            }
        }
    }

    /// A path of the kernel's that many files need has one name.
    @Test func theFolderOfDescriptorsIsWrittenInOnePlace() {
        for file in SourceTree.swift where file.isInSources {
            for (index, line) in file.lines.enumerated() where line.code.contains("\"/proc/self/fd/") {
                Issue.record("\(file.path):\(index + 1): use CL_DESCRIPTORS")
            }
        }
    }

    @Test func nothingIsLeftForLater() {
        let marks = ["TO" + "DO", "FIX" + "ME"]
        for file in SourceTree.swift {
            for (index, line) in file.lines.enumerated() {
                for mark in marks where line.contains(mark) { Issue.record("\(file.path):\(index + 1): \(mark)") }
            }
        }
    }

    @Test func noTestIsSkipped() {
        let marks = [".disabled" + "(", "withKnown" + "Issue"]
        for file in SourceTree.swift where !file.isInSources {
            for (index, line) in file.lines.enumerated() {
                for mark in marks where line.contains(mark) {
                    let isExplained = line.contains("//") || (index > 0 && file.lines[index - 1].isComment)
                    #expect(isExplained, "\(file.path):\(index + 1): \(mark) without a word on why")
                }
            }
        }
    }

    /// `[ "$(cmd)" = "" ]` holds too where the command died before it said anything.
    @Test func scriptsSeeACommandDie() {
        for file in SourceTree.swift where !file.isInSources {
            for (index, line) in file.lines.enumerated() where takesDeathForSilence(line) {
                Issue.record("\(file.path):\(index + 1): use `prints`, `lacks` or `finds_no`, which see a command die")
            }
        }
    }

    @Test(arguments: [
        (#"equal "$(ls a)" """#, true), (#"x; equal "$(ls "$A")$(ls b)" ''; y"#, true), (#"[ -z "$(ls)" ]"#, true),
        (#"equal "$(look "$A")" "$(look b)""#, true), (#"equal "$(look a)" "$(printf 'a b')""#, false),
        (#"equal "$(cat a)" text"#, false), (#"[ -z "$pid" ]"#, false), (#"prints "" ls a"#, false),
        (#"not grep x a"#, true), (#"not has a x"#, true), (#"lacks a x; finds_no x a"#, false),
    ])
    func linesThatHideADeathAreFound(_ line: String, _ isTold: Bool) { #expect(takesDeathForSilence(line) == isTold) }

    private func takesDeathForSilence(_ line: String) -> Bool {
        // The test of this rule has such lines, and so has what explains the words.
        if line.contains("(#\"") || line.contains("`not ") { return false }
        if line.contains(#/\bnot (?:grep|has) |\[ -z "\$\(/#) { return true }
        return line.contains(#/equal "\$\((?:.*\)" (?:""|'')|(\w+) .*\)" "\$\(\1 )/#)
    }

    @Test func everyTestTargetHasTests() {
        let targets = Dictionary(grouping: SourceTree.swift.filter { !$0.isInSources }, by: \.target)
        for (target, files) in targets where !files.allSatisfy({ $0.path.hasSuffix("Placeholder.swift") }) {
            let hasTest = files.contains { $0.lines.contains { $0.contains("@Test") } }
            #expect(hasTest, "\(target) has no test")
        }
    }
}
