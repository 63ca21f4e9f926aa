/// Processes each element, several at a time, and ends with the first failure.
/// - Returns: The results, in any order.
package func inParallel<Element: Sendable, Value: Sendable, Failure: Error>(
    _ elements: [Element], most: Int = 16, _ body: @escaping @Sendable (Element) async -> Result<Value, Failure>
) async throws(Failure) -> [Value] {
    let outcome = await withTaskGroup(of: Result<Value, Failure>.self) { group in
        var (next, found, failure) = (0, [Value](), Failure?.none)
        func start() {
            let element = elements[next]
            next += 1
            group.addTask { await body(element) }
        }
        while next < min(most, elements.count) { start() }
        while let answer = await group.next() {
            switch answer {
            case .success(let value): found.append(value)
            case .failure(let error): failure = failure ?? error
            }
            if failure == nil, next < elements.count { start() }
        }
        return failure.map { Result<[Value], Failure>.failure($0) } ?? .success(found)
    }
    return try outcome.get()
}
