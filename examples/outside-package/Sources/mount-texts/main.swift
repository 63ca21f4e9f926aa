import FuseMount
import TextFolder

// mount-texts MOUNTPOINT: serves the folder until it is unmounted, or Ctrl-C.
guard CommandLine.arguments.count == 2 else { fatalError("usage: mount-texts MOUNTPOINT") }
TerminationSignals.block()
let folder = TextFolder(["hello": "Hello, world!\n", "moon": "Hello, moon!\n"])
let session = try Session(folder, options: MountOptions(fsName: "texts", subtype: "texts"))
try session.mount(at: CommandLine.arguments[1])
TerminationSignals.handle { _ in try? session.unmount(lazy: true) }
try session.run()
