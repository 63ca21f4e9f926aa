import Foundation
import HTTPStorage
import PathStore
import ProcessStore
import S3Store
import StoreServer

/// The store of `s3://…`, in a separate process (docs/decisions/s3-store.md).
@main
struct Main {
    static func main() async {
        await StoreServer.main("s3") { greeting throws(StoreFailure) in
            var given: S3Address
            do throws(S3Address.Invalid) { given = try S3Address(greeting.rest) } catch {
                throw .refused(error.description)
            }
            let (secrets, environment) = (greeting.secrets, ProcessInfo.processInfo.environment)
            // libcurl itself does not read them.
            given.authorities = given.authorities ?? environment["AWS_CA_BUNDLE"] ?? environment["SSL_CERT_FILE"]
            let address = given
            do throws(ServerFailure) {
                var limits = TransferLimits()
                limits.hints = address.hasHints ? HintTiming() : nil
                limits.complain = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
                let storage = try await S3Storage.open(
                    address, limits: limits, memory: SavedAbilities(folder: greeting.state)
                ) { () async throws(ServerFailure) in
                    try await S3Account.find(address, secrets: secrets, environment: environment)
                }
                return StoreServer.Opened(
                    storage: storage, hasSignals: address.hasHints, end: { await storage.end() },
                    steps: { storage.steps })
            } catch {
                throw StoreFailure(error)
            }
        }
    }
}
