import Testing

/// `Tree` is what a lock protects, `Replica` takes the lock: a name that both have would not say which of them is meant.
@Suite struct TreeMethodTests {
    @Test func noMethodOfTreeHasTheNameOfOneOfReplica() {
        let (tree, replica) = (Self.methods(of: "Tree"), Self.methods(of: "Replica"))
        #expect(tree.count > 100)
        #expect(replica.count > 100)
        for name in tree.intersection(replica).sorted() { Issue.record("both have a method \(name)") }
    }

    /// The names of a type's methods and subscripts, in all of its extensions in ReplicaModel.
    private static func methods(of type: String) -> Set<String> {
        var found: Set<String> = []
        for file in SourceTree.swift where file.isInSources && file.target == "ReplicaModel" {
            let text = SwiftText(file.lines.joined(separator: "\n"))
            for declaration in text.declarations(in: 0..<text.shape.count) where declaration.typeName == type {
                guard let body = declaration.body else { continue }
                for member in text.declarations(in: body) where member.keyword == "func" {
                    let name = member.signature.dropFirst("func ".count).prefix {
                        $0.isLetter || $0.isNumber || $0 == "_"
                    }
                    found.insert(String(name))
                }
            }
        }
        return found
    }
}
