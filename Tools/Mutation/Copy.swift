// swift-tools-version: 6.1
import PackageDescription

// What `scripts/mutate` builds with all switches: ReplicaModel and the tests that use nothing else.

let features: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")

let package = Package(
    name: "replica",
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .target(name: "ReplicaModel", dependencies: ["CLinux", grdb, heap, system, log], swiftSettings: features),
        .target(
            name: "ReplicaTestSupport", dependencies: ["ReplicaModel", system, "CLinux"], swiftSettings: features),
        .testTarget(
            name: "ReplicaModelTests", dependencies: ["ReplicaModel", "ReplicaTestSupport", log, system],
            swiftSettings: features),
        .testTarget(
            name: "SimulationTests", dependencies: ["ReplicaModel", "ReplicaTestSupport", log, system],
            swiftSettings: features),
    ],
    swiftLanguageModes: [.v6]
)
