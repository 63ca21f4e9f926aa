import ChildProcess
import Foundation
import Glibc
import HTTPStorage
import WebDAVStore

/// `replica-store-webdav --login URL`, run by `replica login`: prints an app password of Nextcloud as one line of JSON.
/// Messages for the user go to standard error.
enum NextcloudLogin {
    /// As `replica` reads it.
    private struct Line: Encodable {
        let store: String
        let user: String
        let password: String
    }

    static func run(_ url: String) async -> Int32 {
        PrivateMemory.close()
        guard isatty(1) == 0 else { return complain("run by 'replica login': the output contains the login") }
        do throws(ServerFailure) {
            let environment = ProcessInfo.processInfo.environment
            let granted = try await LoginFlow(url, authorities: environment["SSL_CERT_FILE"]).run { page in
                say("Open this page, log in, and grant access:\n\n  \(page.url)\n")
                let browser = LoginBrowser(environment: environment, user: geteuid())
                if browser?.open(page) == true { say("Your browser is opening it.\n") }
            }
            let line = Line(store: granted.store, user: granted.user, password: granted.password)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            // Three strings can always be encoded.
            guard let bytes = try? encoder.encode(line) else { return complain("the login could not be written") }
            FileHandle.standardOutput.write(bytes + Data("\n".utf8))
            return 0
        } catch {
            return complain(error.message)
        }
    }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    private static func complain(_ text: String) -> Int32 {
        say("replica: \(text)")
        return 1
    }
}
