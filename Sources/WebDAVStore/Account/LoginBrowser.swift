package import Glibc

/// The user's browser, for the page of a login. `xdg-open` of the user's own PATH starts it.
package struct LoginBrowser: Sendable {
    private let environment: [String: String]
    private let program: String

    /// - Parameters:
    ///   - environment: This process's.
    ///   - user: The effective user: a browser never runs as root, for example by sudo in a user's desktop.
    /// - Returns: Nil if there is no desktop, or no `xdg-open`.
    package init?(environment: [String: String], user: uid_t) {
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        let programs: [String] = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/xdg-open" }
        let program = programs.first { $0.hasPrefix("/") && access($0, X_OK) == 0 }
        guard user != 0, hasDesktop, let program else { return nil }
        (self.environment, self.program) = (environment, program)
    }

    /// Starts it, and does not wait for its end.
    /// - Returns: Whether it was started. Never with a page that holds a secret: other users can read arguments.
    package func open(_ page: LoginFlow.Page) -> Bool {
        guard !page.holdsSecret, page.isSafe else { return false }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Its output is not ours, into which the login is written.
        for descriptor: Int32 in 0...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // An interrupt of the login does not end the browser.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var words = [strdup(program), strdup(page.url), nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var child = pid_t()
        return posix_spawn(&child, program, &actions, &attributes, &words, &variables) == 0
    }
}
