import Foundation
import HTTPStorage
import PathStore
import ProcessStore
import RcloneStore
import StoreServer

/// The store of `rclone:remote:path`, in a separate process (docs/decisions/rclone-store.md).
@main
struct Main {
    static func main() async {
        await StoreServer.main("rclone") { greeting throws(StoreFailure) in
            let address: RcloneAddress
            do throws(RcloneAddress.Invalid) { address = try RcloneAddress(greeting.url) } catch {
                throw .refused(error.description)
            }
            do throws(ServerFailure) {
                let program = try RcloneProgram.find(ProcessInfo.processInfo.environment)
                let server = try RcloneRunner(program, state: greeting.state, password: greeting.secrets["password"])
                let storage = try await RcloneStorage.open(address, server, state: greeting.state)
                return StoreServer.Opened(storage: storage) { storage.steps }
            } catch {
                throw StoreFailure(error)
            }
        }
    }
}
