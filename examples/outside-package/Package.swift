// swift-tools-version: 6.2
import PackageDescription

// Somebody else's package: it depends on the replica package and sees only its public API.
let package = Package(
    name: "outside-package",
    products: [
        .executable(name: "mount-texts", targets: ["mount-texts"]),
        .library(name: "Shelf", targets: ["Shelf"]),
    ],
    dependencies: [
        // Elsewhere: .package(url: "https://…/replica", from: "…")
        .package(name: "replica", path: "../..")
    ],
    targets: [
        .target(name: "TextFolder", dependencies: [.product(name: "FuseMount", package: "replica")]),
        .executableTarget(
            name: "mount-texts", dependencies: ["TextFolder", .product(name: "FuseMount", package: "replica")]),
        .target(name: "Shelf", dependencies: [.product(name: "ReplicaModel", package: "replica")]),
        .testTarget(
            name: "OutsideTests",
            dependencies: [
                "Shelf", "TextFolder",
                .product(name: "FuseMount", package: "replica"),
                .product(name: "ReplicaTestSupport", package: "replica"),
            ],
            exclude: ["README.md"]),
    ],
    swiftLanguageModes: [.v6]
)
