
// MARK: `scripts/mutate` puts this after Package.swift in its copy

let asked = ["ReplicaModelTests", "SimulationTests"]

/// What the tests need, so that nothing else is built.
var needed: Set<String> = []
var found = asked
while let name = found.popLast() {
    guard needed.insert(name).inserted else { continue }
    for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
        switch dependency {
        case .byNameItem(let name, _), .targetItem(let name, _): found.append(name)
        default: break
        }
    }
}
package.products = []
package.targets.removeAll { !needed.contains($0.name) }
// A switch may leave a variable that never changes, or a value that nothing reads.
for target in package.targets { target.swiftSettings?.append(.treatAllWarnings(as: .warning)) }
