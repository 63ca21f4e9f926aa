// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that a release build of these tests builds nothing but what they run: see scripts/test.
// Its files are links to those of the product's tests.
let package = Package(
    name: "release-tests",
    dependencies: [
        .package(name: "replica", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .testTarget(
            name: "HostileTests",
            dependencies: [
                .product(name: "ReplicaModel", package: "replica"),
                .product(name: "ReplicaTestSupport", package: "replica"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["README.md"],
            swiftSettings: [
                .treatAllWarnings(as: .error),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
