internal import Glibc
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Brings a file of which nothing is local up to date before a program opens it for reading, as NFS does at each open:
    /// cp(1) and others ask the descriptor for the size, and would make that many bytes of newer content of another size.
    /// A small file is fetched at once, which is what the reader waits for next.
    ///
    /// It never fails, and ends after ``revalidationSeconds`` at the latest. What it has begun goes on: the read that follows
    /// waits for the same fetch.
    func revalidate(_ number: ItemNumber) async {
        guard !options.isSequential, state.withLock({ $0.disconnected == nil && $0.isStoreReadable }) else { return }
        let (ends, end) = AsyncStream<Void>.makeStream()
        background.start {
            await self.update(number)
            end.finish()
        }
        let timer = Task {
            try? await Task.sleep(for: .seconds(Self.revalidationSeconds))  // Ends early when it is cancelled.
            end.finish()
        }
        for await _ in ends {}
        timer.cancel()
    }

    private static let revalidationSeconds = 5.0

    private func update(_ number: ItemNumber) async {
        // What fails here fails again for the read.
        guard let target = try? replica.fetchTarget(number, range: nil), target.isUntouched, target.size > 0 else {
            return
        }
        if target.size <= Self.block {
            _ = try? await read(number, 0..<target.size, ahead: 0..<target.size)
        } else {
            let asked = replica.answers
            // The read gets the error.
            guard let item = try? await store.item(target.identifier), item.version.content != target.version else {
                return
            }
            note(target.identifier, item, asked: asked)
            _ = await waitForOther(than: target, until: replica.now() + Self.revalidationSeconds)
        }
        await waitForPresentation(of: number, seconds: Self.revalidationSeconds)
    }
}
