import Foundation
import Glibc
import HTTPStorage
import WebDAVStore

/// `replica-store-webdav --login URL FILE`, run by `replica login`: writes an app password of Nextcloud to a file that
/// only its owner can read.
enum LoginCommand {
    static func run(_ url: String, _ file: String) async -> Int32 {
        // Before the user is asked: an existing file stays.
        let output = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard output >= 0 else { return complain("\(file): \(String(cString: strerror(errno)))") }
        defer { close(output) }
        do throws(ServerFailure) {
            let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
            let granted = try await LoginFlow(url, authorities: authorities).run { page in
                say("Open this page, log in, and grant access:\n\n  \(page)\n")
            }
            let text = Array("user=\(granted.user)\npassword=\(granted.password)\n".utf8)
            guard write(output, text, text.count) == text.count, fsync(output) == 0 else {
                unlink(file)
                return complain("\(file): \(String(cString: strerror(errno)))")
            }
            say("The login is in \(file). Now:")
            say("\n  replica add NAME --store '\(granted.store)' --credentials '\(file)'")
            return 0
        } catch {
            unlink(file)
            return complain(error.message)
        }
    }

    private static func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    private static func complain(_ text: String) -> Int32 {
        FileHandle.standardError.write(Data("replica: \(text)\n".utf8))
        return 1
    }
}
