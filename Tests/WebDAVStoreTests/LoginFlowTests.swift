import Foundation
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

    @Test func aPasswordIsGrantedAndLetsIn() async throws {
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

    @Test func whoSaysNothingIsNotWaitedForForEver() async throws {
        let flow = try LoginFlow(try Self.server)
        await #expect(throws: ServerFailure.notAuthenticated("nobody has said yes on the server's page")) {
            try await flow.run(pause: .milliseconds(50), patience: .milliseconds(200)) { _ in }
        }
    }

    @Test func whatIsNoNextcloudIsSaid() async throws {
        let flow = try LoginFlow("http://\(try WebDAVServer.nginx.place)")
        await #expect(throws: ServerFailure.self) { try await flow.run { _ in Issue.record("a page was shown") } }
        for url in ["cloud.example.org", "http://cloud.example.org", "ftp://a", "https://", "https://a/../b"] {
            #expect(throws: ServerFailure.self) { try LoginFlow(url) }
        }
    }
}
