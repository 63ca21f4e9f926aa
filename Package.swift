// swift-tools-version: 6.2
import PackageDescription

/// Every target is built in Swift 6 language mode with warnings as errors.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// The archive for the programs of a package, because a shared libfuse has another name on another release of Debian
/// (docs/decisions/package.md). Only linking differs.
let fuse = Context.environment["REPLICA_STATIC_FUSE"] == nil ? "fuse3" : ":libfuse3.a"

/// What a target proves and what it cannot: for readers, no resource.
let page = ["README.md"]

let package = Package(
    name: "replica",
    products: [
        .executable(name: "mount.replica", targets: ["mount.replica"]),
        .executable(name: "replica", targets: ["replica"]),
        .executable(name: "replica-passthrough", targets: ["replica-passthrough"]),
        .executable(name: "replica-store-s3", targets: ["replica-store-s3"]),
        .executable(name: "replica-store-webdav", targets: ["replica-store-webdav"]),
        .executable(name: "replica-store-rclone", targets: ["replica-store-rclone"]),
        .library(name: "FuseMount", targets: ["FuseMount"]),
        .library(name: "ReplicaModel", targets: ["ReplicaModel"]),
        // For whoever writes a store: the promises that every store keeps, as tests, and stores that fail on purpose.
        .library(name: "ReplicaTestSupport", targets: ["ReplicaTestSupport"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // Declarations only: Linux calls that the Glibc module lacks.
        .systemLibrary(name: "CLinux"),
        .target(name: "CWalk"),
        .target(name: "CMount"),
        .target(name: "CSHA256"),
        .target(name: "CLandlock"),
        .target(
            name: "CFuse", dependencies: ["CMount", "CWalk"], exclude: ["rings/README.md"],
            cSettings: [.headerSearchPath(".")],
            linkerSettings: [.linkedLibrary(fuse), .linkedLibrary("uring")]),
        .executableTarget(name: "replica-passthrough", cSettings: [.headerSearchPath("../CFuse")]),
        .target(name: "Threads", dependencies: ["CLinux"], swiftSettings: strict),
        .target(name: "FuseMount", dependencies: ["CFuse", "CMount", "Threads", system], swiftSettings: strict),
        .target(
            name: "ReplicaModel", dependencies: ["CLinux", "CWalk", "Threads", grdb, heap, system, log],
            swiftSettings: strict),
        .target(
            name: "ReplicaFileSystem", dependencies: ["FuseMount", "ReplicaModel", "CLinux", "Threads", system],
            swiftSettings: strict),
        .target(
            name: "DirectoryStore", dependencies: ["ReplicaModel", "CLinux", "Threads", system], swiftSettings: strict),
        .target(
            name: "PathStore", dependencies: ["ReplicaModel", "CLinux", "CSHA256", "Threads", grdb, system],
            swiftSettings: strict),
        .target(name: "PercentEncoding", swiftSettings: strict),
        .target(name: "ChildProcess", dependencies: ["CLinux", system], swiftSettings: strict),
        .target(
            name: "ProcessStore",
            dependencies: [
                "ChildProcess", "Threads", "PathStore", "ReplicaModel", "CLandlock", "CLinux", system, log,
            ],
            swiftSettings: strict),
        .target(
            name: "SFTPStore",
            dependencies: [
                "ChildProcess", "PercentEncoding", "Threads", "PathStore", "ReplicaModel", "CLinux", system,
            ],
            swiftSettings: strict),
        // Of the distribution: only the programs of stores that talk HTTP are linked with them.
        .systemLibrary(name: "CCurl"),
        .systemLibrary(name: "CExpat"),
        .systemLibrary(name: "CCrypto"),
        .target(
            name: "HTTPClient", dependencies: ["CCurl", "CExpat", "CCrypto", "Threads"], swiftSettings: strict),
        .target(
            name: "HTTPStorage",
            dependencies: ["HTTPClient", "ChildProcess", "ProcessStore", "PathStore", "ReplicaModel", "Threads"],
            swiftSettings: strict),
        .target(
            name: "S3Store",
            dependencies: [
                "HTTPClient", "HTTPStorage", "ChildProcess", "PercentEncoding", "Threads", "PathStore", "ReplicaModel",
                system,
            ],
            swiftSettings: strict),
        .target(
            name: "WebDAVStore",
            dependencies: [
                "HTTPClient", "HTTPStorage", "ChildProcess", "PercentEncoding", "Threads", "PathStore", "ReplicaModel",
                system,
            ],
            swiftSettings: strict),
        .target(
            name: "RcloneStore",
            dependencies: [
                "HTTPClient", "HTTPStorage", "ChildProcess", "PercentEncoding", "Threads", "PathStore", "ReplicaModel",
                "CLinux", system,
            ],
            swiftSettings: strict),
        .target(
            name: "StoreServer",
            dependencies: ["ProcessStore", "ChildProcess", "PathStore", "ReplicaModel", "Threads", system],
            swiftSettings: strict),
        .executableTarget(
            name: "replica-store-s3",
            dependencies: ["S3Store", "HTTPStorage", "StoreServer", "ProcessStore", "PathStore"],
            swiftSettings: strict),
        .executableTarget(
            name: "replica-store-webdav",
            dependencies: ["WebDAVStore", "HTTPStorage", "StoreServer", "ProcessStore", "PathStore", "ChildProcess"],
            swiftSettings: strict),
        .executableTarget(
            name: "replica-store-rclone",
            dependencies: ["RcloneStore", "HTTPStorage", "StoreServer", "ProcessStore", "PathStore"],
            swiftSettings: strict),
        .target(
            name: "ReplicaControl", dependencies: ["ChildProcess", "CLinux", "CMount", "PercentEncoding", system],
            swiftSettings: strict),
        .executableTarget(
            name: "mount.replica",
            dependencies: [
                "ReplicaFileSystem", "ReplicaModel", "DirectoryStore", "PathStore", "ProcessStore", "SFTPStore",
                "ReplicaControl", "ReplicaTestSupport", "ChildProcess", "CLinux", "Threads", log,
                system,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "replica",
            dependencies: ["ReplicaControl", "ChildProcess", "PercentEncoding", "Threads", arguments, system],
            swiftSettings: strict),
        .target(
            name: "ReplicaTestSupport", dependencies: ["ReplicaModel", "PathStore", "Threads", log, system, "CLinux"],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", exclude: page, swiftSettings: strict),
        .testTarget(name: "ThreadsTests", dependencies: ["CLinux", "Threads"], exclude: page, swiftSettings: strict),
        .testTarget(
            name: "FuseMountTests", dependencies: ["FuseMount", "CLinux", "Threads", system], exclude: page,
            swiftSettings: strict),
        .testTarget(
            name: "ReplicaModelTests",
            dependencies: ["PathStore", "ReplicaModel", "ReplicaTestSupport", "Threads", log, system],
            exclude: page, swiftSettings: strict),
        .testTarget(
            name: "ReplicaFileSystemTests",
            dependencies: [
                "Threads", "ReplicaFileSystem", "FuseMount", "ReplicaModel", "ReplicaTestSupport", "CLinux", log,
                system,
            ], exclude: page, swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["Threads", "PathStore", "ReplicaModel", "ReplicaTestSupport", log, system],
            exclude: page, swiftSettings: strict),
        .testTarget(
            name: "DirectoryStoreTests",
            dependencies: ["Threads", "DirectoryStore", "CLinux", "ReplicaModel", "ReplicaTestSupport", system],
            exclude: page, swiftSettings: strict),
        .testTarget(
            name: "ProcessStoreTests",
            dependencies: [
                "Threads", "ProcessStore", "StoreServer", "PathStore", "ReplicaModel", "ReplicaTestSupport", "CLinux",
                log,
                system,
            ], exclude: page + ["rude-store", "item-store"], swiftSettings: strict),
        .testTarget(
            name: "PathStoreTests",
            dependencies: ["PathStore", "CSHA256", "ReplicaModel", "ReplicaTestSupport", "Threads", log, system],
            exclude: page, swiftSettings: strict),
        .testTarget(
            name: "SFTPStoreTests",
            dependencies: [
                "SFTPStore", "ChildProcess", "PathStore", "ReplicaModel", "ReplicaTestSupport", "Threads", system,
            ], exclude: page + ["cutting-ssh", "hostile-ssh"], swiftSettings: strict),
        .testTarget(
            name: "S3StoreTests",
            dependencies: [
                "S3Store", "HTTPClient", "HTTPStorage", "StoreServer", "ProcessStore", "ChildProcess", "PathStore",
                "PercentEncoding",
                "ReplicaModel", "ReplicaTestSupport", "Threads", system,
            ], exclude: page + ["metadata-server", "copy-refuser", "rclone-server", "s3-server"], swiftSettings: strict),
        .testTarget(
            name: "WebDAVStoreTests",
            dependencies: [
                "WebDAVStore", "HTTPClient", "HTTPStorage", "ChildProcess", "PathStore", "ReplicaModel",
                "ReplicaTestSupport", "Threads", system,
            ], exclude: page + ["webdav-server", "hostile-server", "nextcloud.php"], swiftSettings: strict),
        .testTarget(
            name: "RcloneStoreTests",
            dependencies: [
                "RcloneStore", "HTTPClient", "HTTPStorage", "ChildProcess", "PathStore", "ReplicaModel",
                "ReplicaTestSupport", "Threads", system,
            ], exclude: page + ["hostile-rclone"], swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "CLinux", "ChildProcess", "Threads", "mount.replica", "replica", "ProcessStore", "ReplicaControl",
                "ReplicaModel", "ReplicaTestSupport", "S3Store", "WebDAVStore", log, system,
            ], exclude: page + ["Support/press-tab.py"], swiftSettings: strict),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "S3Store", "SFTPStore", "WebDAVStore", "ProcessStore", "StoreServer", "HTTPClient", "HTTPStorage",
                "PathStore", "ReplicaControl", "ReplicaModel", "ReplicaTestSupport",
            ], exclude: page + ["corpus"], swiftSettings: strict),
        .testTarget(
            name: "MachineTests",
            dependencies: [
                "DirectoryStore", "S3Store", "SFTPStore", "WebDAVStore", "HTTPClient", "HTTPStorage", "PathStore",
                "ReplicaModel", "ReplicaTestSupport", "Threads", log, system,
            ], exclude: page + ["ssh-server"], swiftSettings: strict),
        .testTarget(
            name: "MountIntegrationTests",
            dependencies: ["ReplicaControl", "ReplicaTestSupport", "CLinux", system], exclude: page,
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
