// swift-tools-version: 6.2
import PackageDescription

// A package of its own: nobody who builds the product needs swift-syntax.
let package = Package(
    name: "mutation",
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1")],
    targets: [
        .executableTarget(
            name: "mutation",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6]
)
