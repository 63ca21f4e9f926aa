import Foundation
import Glibc
import HTTPStorage
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import WebDAVStore

/// A password of Nextcloud's for this program alone.
@Suite struct LoginFlowTests {
    private static var server: String {
        get throws { "http://\(try WebDAVServer.nextcloud.place.prefix { $0 != "/" })" }
    }

    @Test func aGrantedPasswordIsAccepted() async throws {
        let (server, opened) = (try Self.server, Locked<[String]>([]))
        let granted = try await LoginFlow(server).run(pause: .milliseconds(50)) { page in
            opened.withLock { $0.append(page.url) }
            // As a person does in a browser, a moment later.
            let curl = Process()
            curl.executableURL = URL(filePath: "/usr/bin/curl")
            curl.arguments = ["-s", "-o", "/dev/null", page.url]
            do { try curl.run() } catch { Issue.record("\(error)") }
        }
        #expect(opened.withLock { $0.count == 1 && $0[0].hasPrefix("\(server)/login/v2/flow/") })
        #expect(granted.user == "user" && granted.password == "pass")
        #expect(granted.store == "dav\(server.dropFirst(4))/remote.php/dav/files/user")
        let address = try WebDAVAddress(String(granted.store.dropFirst(6)), isSecure: false)
        let login = WebDAVLogin.password(user: granted.user, password: granted.password)
        try await WebDAVStorage.open(address, login, abilities: ServerAbilities()).close()
    }

    /// A question that finds the server busy, or no server, is asked again; an answer that never comes is none.
    @Test(arguments: [HTTPFault.tooMany, .slowDown, .internalError, .lostRequest, .lostAnswer, .cutAnswer, .portal])
    func failedPollsAreRepeated(_ fault: HTTPFault) async throws {
        let port = try WebDAVServer.nextcloud.port
        let questions = Locked(0)
        let plan: HTTPFaultProxy.Plan = { request in
            guard request.words.count > 1, request.words[1].hasSuffix("/poll") else { return nil }
            let number = questions.withLock { number in
                number += 1
                return number
            }
            return number < 3 ? fault : nil
        }
        let proxy = try HTTPFaultProxy(to: { port }, plan: plan)
        defer { proxy.close() }
        let isOpen = Locked(false)
        let granted = try await LoginFlow("http://127.0.0.1:\(proxy.port)").run(pause: .milliseconds(50)) { page in
            // As a person who takes a moment.
            _ = Thread.run {
                while questions.withLock({ $0 }) < 3 { usleep(10_000) }
                let curl = Process()
                curl.executableURL = URL(filePath: "/usr/bin/curl")
                curl.arguments = ["-s", "-o", "/dev/null", page.url]
                isOpen.withLock { $0 = true }
                do { try curl.run() } catch { Issue.record("\(error)") }
            }
        }
        #expect(granted.user == "user" && isOpen.withLock { $0 } && questions.withLock { $0 } > 3)
    }

    /// Its command is the page's address and nothing else: neither the token that fetches the password nor the login's output.
    @Test func theBrowserOpensThePage() async throws {
        let folder = try TemporaryFolder()
        let (program, seen) = (folder.path.appending("xdg-open").string, folder.path.appending("seen").string)
        let script = """
            #!/bin/sh
            printf '%s\\n' "$#" "$1" "$(readlink /proc/$$/fd/1)" >'\(seen).new'
            mv '\(seen).new' '\(seen)'
            exec /usr/bin/curl -s -o /dev/null "$1"
            """
        try script.write(toFile: program, atomically: true, encoding: .utf8)
        chmod(program, 0o755)
        let path = ["relative", folder.path.string, "/usr/bin", "/bin"].joined(separator: ":")
        let browser = try #require(LoginBrowser(environment: ["DISPLAY": ":7", "PATH": path], user: 1_000))
        let (server, pages) = (try Self.server, Locked<[LoginFlow.Page]>([]))
        let granted = try await LoginFlow(server).run(pause: .milliseconds(50)) { page in
            pages.withLock { $0.append(page) }
            #expect(browser.open(page))
        }
        #expect(granted.user == "user")
        let page = try #require(pages.withLock { $0.first })
        #expect(!page.holdsSecret && page.isSafe)
        let lines = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines == ["1", page.url, "/dev/null"])
        #expect(!browser.open(.init(url: page.url, holdsSecret: true, isSafe: true)))
        #expect(!browser.open(.init(url: page.url, holdsSecret: false, isSafe: false)))
    }

    @Test func theBrowserNeedsADesktopAndAnOrdinaryUser() throws {
        let folder = try TemporaryFolder()
        let program = folder.path.appending("xdg-open").string
        try "#!/bin/sh\n".write(toFile: program, atomically: true, encoding: .utf8)
        let path = folder.path.string
        #expect(LoginBrowser(environment: ["DISPLAY": ":0", "PATH": path], user: 1_000) == nil)
        chmod(program, 0o755)
        for desktop in ["DISPLAY", "WAYLAND_DISPLAY"] {
            #expect(LoginBrowser(environment: [desktop: "0", "PATH": path], user: 1_000) != nil)
            #expect(LoginBrowser(environment: [desktop: "0", "PATH": path], user: 0) == nil)
            #expect(LoginBrowser(environment: [desktop: "", "PATH": path], user: 1_000) == nil)
        }
        #expect(LoginBrowser(environment: ["PATH": path], user: 1_000) == nil)
        #expect(LoginBrowser(environment: ["DISPLAY": ":0"], user: 1_000) == nil)
    }

    /// A page whose address is enough to fetch the password is only shown.
    @Test func aPageWithTheTokenIsASecret() async throws {
        let (port, isShown) = (try WebDAVServer.nextcloud.port, Locked(Bool?.none))
        let proxy = try HTTPFaultProxy(to: { port }, plan: { _ in nil })
        defer { proxy.close() }
        let flow = try LoginFlow("http://127.0.0.1:\(proxy.port)/telling")
        _ = try? await flow.run(pause: .milliseconds(50), timeLimit: .milliseconds(200)) { page in
            isShown.withLock { $0 = page.holdsSecret }
        }
        #expect(isShown.withLock { $0 } == true)
    }

    @Test func aSilentServerTimesOut() async throws {
        let flow = try LoginFlow(try Self.server)
        await #expect(throws: ServerFailure.notAuthenticated("access was not granted on the server's page in time")) {
            try await flow.run(pause: .milliseconds(50), timeLimit: .milliseconds(200)) { _ in }
        }
    }

    @Test func aServerWithoutNextcloudIsReported() async throws {
        let flow = try LoginFlow("http://\(try WebDAVServer.nginx.place)")
        await #expect(throws: ServerFailure.self) { try await flow.run { _ in Issue.record("a page was shown") } }
        for url in ["cloud.example.org", "http://cloud.example.org", "ftp://a", "https://", "https://a/../b"] {
            #expect(throws: ServerFailure.self) { try LoginFlow(url) }
        }
    }
}
