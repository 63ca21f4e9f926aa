import SwiftParser
import SwiftSyntax

/// Puts switches into one file: conditions that are negated, bounds that move, statements that are left out.
final class Mutator: SyntaxRewriter {
    private let file: String
    private let places: SourceLocationConverter
    private let skipped: Set<String>
    private(set) var next: Int
    /// What has its switch from what it is part of.
    private var handled: Set<SyntaxIdentifier> = []
    private(set) var sites: [Site] = []

    /// - Parameters:
    ///   - first: The number of the first switch.
    ///   - skipped: `FILE:LINE` of what stays as it is.
    init(_ tree: SourceFileSyntax, file: String, first: Int, skipping skipped: Set<String>) {
        self.file = file
        self.skipped = skipped
        next = first
        places = SourceLocationConverter(fileName: file, tree: tree)
    }

    /// The number of a switch at `node`; nil when the line is skipped. A number is used up in any case.
    private func add(_ kind: Site.Kind, _ node: some SyntaxProtocol, at place: AbsolutePosition? = nil) -> Int? {
        let number = next
        next += 1
        let line = places.location(for: place ?? node.positionAfterSkippingLeadingTrivia).line
        guard !skipped.contains("\(file):\(line)") else { return nil }
        let text = node.trimmedDescription.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        sites.append(Site(number: number, file: file, line: line, kind: kind, text: String(text.prefix(120))))
        return number
    }

    // MARK: Conditions

    override func visit(_ node: ConditionElementSyntax) -> ConditionElementSyntax {
        guard case .expression(let condition) = node.condition, !condition.hasLogicalOperators,
            !condition.is(BooleanLiteralExprSyntax.self)
        else {
            return super.visit(node)
        }
        handled.insert(condition.id)
        let numbers = [add(.negated, condition)] + (condition.hasBound ? [add(.bound, condition)] : [])
        var result = super.visit(node)
        guard case .expression(let rewritten) = result.condition else { return result }
        var text = rewritten.trimmedDescription
        if numbers.count > 1, let number = numbers[1], let moved = condition.withMovedBound {
            text = "(isMutant(\(number)) ? \(moved) : \(text))"
        }
        if let number = numbers[0] { text = Self.negatable(text, number) }
        result.condition = .expression(Self.expression(text, like: rewritten))
        return result
    }

    override func visit(_ node: SequenceExprSyntax) -> ExprSyntax {
        let original = Array(node.elements)
        let expression = ExprSyntax(node)
        if !expression.hasLogicalOperators {
            guard expression.isComparison, !handled.contains(node.id), let number = add(.negated, node) else {
                return super.visit(node)
            }
            let result = super.visit(node)
            return Self.expression(Self.negatable(result.trimmedDescription, number), like: result)
        }
        var numbers: [Int?] = []
        for operand in original.operands { numbers.append(add(.negated, operand.text, at: operand.place)) }
        guard let result = super.visit(node).as(SequenceExprSyntax.self) else { return ExprSyntax(node) }
        let rewritten = Array(result.elements).operands
        guard rewritten.count == numbers.count else { return ExprSyntax(result) }
        var text = ""
        for (operand, number) in zip(rewritten, numbers) {
            let inner = operand.text.trimmedDescription
            text += operand.leading + (number.map { Self.negatable(inner, $0) } ?? inner) + operand.trailing
        }
        return Self.expression(text, like: ExprSyntax(result))
    }

    /// `text` or, switched, its opposite.
    private static func negatable(_ text: String, _ number: Int) -> String {
        for effect in ["try await ", "try ", "await "] where text.hasPrefix(effect) {
            return "\(effect)isTrue(\(number), \(text.dropFirst(effect.count)))"
        }
        return "isTrue(\(number), \(text))"
    }

    private static func expression(_ text: String, like old: ExprSyntax) -> ExprSyntax {
        var parser = Parser(text)
        return ExprSyntax.parse(from: &parser)
            .with(\.leadingTrivia, old.leadingTrivia).with(\.trailingTrivia, old.trailingTrivia)
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> ExprSyntax {
        guard node.isValue, let number = add(.negated, node) else { return super.visit(node) }
        return Self.expression(Self.negatable(node.trimmedDescription, number), like: ExprSyntax(node))
    }

    // MARK: Statements

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        let numbers = node.map { $0.canBeLeftOut(of: node) ? add(.left, $0) : nil }
        let items = super.visit(node)
        guard items.count == numbers.count else { return items }
        return CodeBlockItemListSyntax(
            zip(items, numbers).map { item, number in
                guard let number else { return item }
                var parser = Parser("if !isMutant(\(number)) { \(item.item.trimmedDescription) }")
                return item.with(\.item, .expr(ExprSyntax.parse(from: &parser)))
                    .with(\.leadingTrivia, item.leadingTrivia).with(\.trailingTrivia, item.trailingTrivia)
            })
    }
}
