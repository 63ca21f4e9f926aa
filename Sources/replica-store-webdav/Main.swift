import Foundation
import HTTPStorage
import PathStore
import ProcessStore
import StoreServer
import WebDAVStore

/// The store of `davs://…` and `dav://…`, in a separate process (docs/decisions/webdav-store.md).
@main
struct Main {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        if words.count == 2, words.first == "--login" {
            exit(await NextcloudLogin.run(CommandLine.arguments[2]))
        }
        await StoreServer.main("webdav") { greeting throws(StoreFailure) in
            var given: WebDAVAddress
            do throws(WebDAVAddress.Invalid) {
                given = try WebDAVAddress(greeting.rest, isSecure: !greeting.url.lowercased().hasPrefix("dav:"))
            } catch {
                throw .refused(error.description)
            }
            // libcurl itself does not read it.
            given.authorities = given.authorities ?? ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
            do throws(ServerFailure) {
                let login = try WebDAVLogin.find(user: given.user, secrets: greeting.secrets)
                let storage = try await WebDAVStorage.open(given, login, memory: SavedAbilities(folder: greeting.state))
                return StoreServer.Opened(storage: storage) { storage.steps }
            } catch {
                throw StoreFailure(error)
            }
        }
    }
}
