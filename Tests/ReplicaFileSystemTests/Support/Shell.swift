import Glibc

/// Runs a shell script in the mount; it has to succeed at every step.
func shell(_ script: String, in place: TestPlace, _ checks: Checks, line: Int = #line) {
    let out = place.base + "/out"
    var process = pid_t()
    let words = ["sh", "-c", "exec > \(out) 2>&1; set -ex; cd \(place.mount); \(script)"]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let error = posix_spawn(&process, "/bin/sh", nil, nil, &arguments, environ)
    guard error == 0 else { return checks.fail("no shell: \(error)", line: line) }
    var result: Int32 = 0
    while waitpid(process, &result, 0) < 0, errno == EINTR {}
    if result != 0 { checks.fail("\(result): \(readFile(out) ?? "")", line: line) }
}
