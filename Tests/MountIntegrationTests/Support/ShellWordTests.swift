import Testing

/// The functions of the other tests' scripts that could hide a failure.
@Suite struct ShellWordTests {
    /// A call of `prints`, and whether it has to pass.
    static let calls: [(String, Bool)] = [
        ("prints '' true", true),
        ("prints one echo one", true),
        ("prints $'one\\ntwo' printf 'one\\ntwo\\n'", true),
        ("exec 3</dev/null; prints '' cat <&3", true),
        ("prints '' echo one", false),
        ("prints one echo two", false),
        ("prints one true", false),
        ("prints '' false", false),
        ("prints '' ls nothing", false),
        ("prints one eval 'echo one; exit 3'", false),
        ("prints '' no_such_program", false),
        ("prints '' eval 'false | true'", false),
        ("dies() { false; true; }; prints '' dies", false),
        // In a condition, too.
        ("if prints '' false; then echo; else exit 1; fi", false),
        ("within 0 prints '' false", false),
        ("within 0 prints '' true; not prints '' false; not prints '' echo one", true),
        ("echo one >file; lacks file two; finds_no -q two file; lacks /dev/null one", true),
        ("echo one >file; lacks file one", false),
        ("lacks nothing one", false),
        ("echo one >file; finds_no -q two file nothing", false),
        ("if finds_no -q one nothing; then echo; else exit 1; fi", false),
    ]

    @Test(arguments: calls) func commandsWithoutOutputMustSucceed(_ call: String, _ passes: Bool) async throws {
        try await Trial.run { trial in
            let outcome = try await trial.attempt(call)
            #expect((outcome.code == 0) == passes, "\(outcome)")
        }
    }

    @Test func processesOfAScriptReceiveKill() async throws {
        try await Trial.run { trial in
            try await trial.shell("sleep 20 & kill $!; got=0; wait $! || got=$?; equal $got 143")
        }
    }

    @Test func processesLeftByAScriptAreEnded() async throws {
        let left = try await leftBy(
            """
            is() { until [ "$(cat /proc/$1/comm)" = $2 ]; do sleep 0.01; done; }
            tail -f /dev/null & is $! tail
            (trap '' TERM; exec sleep 300) & is $! sleep
            exit 0
            """)
        let killed = try await left.end(timeLimit: .zero)
        #expect(killed.map(\.name).sorted() == ["sleep", "tail"])
        for process in killed { #expect(!process.isRunning) }
        #expect(try await left.end(timeLimit: .zero) == [])
    }

    @Test func processesThatEndThemselvesAreNotReported() async throws {
        let left = try await leftBy("sleep 0.3 & exit 0")
        #expect(try await left.end(timeLimit: .seconds(60)) == [])
    }

    private func leftBy(_ script: String) async throws -> LeftProcesses {
        let left = LeftProcesses()
        try await Trial.run { trial in
            let output = trial.folder + "/output"
            left.add(try await runScript(script, environment: ["PATH": "/usr/bin:/bin"], output: output).left)
        }
        return left
    }
}
