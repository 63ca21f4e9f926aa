import Foundation
import Glibc
import HTTPStorage
import ReplicaTestSupport
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
            opened.withLock { $0.append(page) }
            // As a person does in a browser, a moment later.
            let curl = Process()
            curl.executableURL = URL(filePath: "/usr/bin/curl")
            curl.arguments = ["-s", "-o", "/dev/null", page]
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
                curl.arguments = ["-s", "-o", "/dev/null", page]
                isOpen.withLock { $0 = true }
                do { try curl.run() } catch { Issue.record("\(error)") }
            }
        }
        #expect(granted.user == "user" && isOpen.withLock { $0 } && questions.withLock { $0 } > 3)
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
