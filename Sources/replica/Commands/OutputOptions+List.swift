import ReplicaControl

extension OutputOptions {
    /// Prints a list, in JSON one object per entry.
    func list(_ domain: DomainArgument, _ request: ControlRequest) throws {
        let answer = try domain.request(request) { event in
            switch event {
            case .items(let items) where json: try items.forEach(Output.json)
            case .conflicts(let conflicts) where json: try conflicts.forEach(Output.json)
            case .left(let left) where json: for one in left { try Output.json(["left": one]) }
            case .items(let items) where request.since != nil:
                items.map { "+ " + StatusText.line($0) }.forEach(Output.line)
            default: try self.event(event)
            }
        }
        if case .anchor(let anchor) = answer { try show(answer, ["anchor \(anchor)"]) }
    }
}
