import SwiftParser
import SwiftSyntax

/// One side of `&&` or `||`, with what stands around it.
struct Operand {
    var text: ExprSyntax
    /// Where it begins in its file.
    var place: AbsolutePosition
    /// Before and after it, the operator that follows included.
    var leading: String
    var trailing: String
}

extension ExprSyntax {
    /// Whether it is made of parts by `&&` and `||` and nothing that binds less.
    var hasLogicalOperators: Bool {
        guard let sequence = self.as(SequenceExprSyntax.self) else { return false }
        return sequence.elements.contains { $0.isLogicalOperator } && !sequence.elements.contains { $0.bindsLess }
    }

    fileprivate var isLogicalOperator: Bool {
        guard let text = self.as(BinaryOperatorExprSyntax.self)?.operator.text else { return false }
        return text == "&&" || text == "||"
    }

    private var bindsLess: Bool {
        self.is(UnresolvedTernaryExprSyntax.self) || self.is(AssignmentExprSyntax.self) || self.is(ArrowExprSyntax.self)
            || (self.as(BinaryOperatorExprSyntax.self)?.operator.text.hasSuffix("=") ?? false)
                && !["==", "!=", "<=", ">=", "===", "!=="].contains(trimmedDescription)
    }

    /// Whether it compares, and does nothing else.
    var isComparison: Bool {
        guard let sequence = self.as(SequenceExprSyntax.self), !sequence.elements.contains(where: \.bindsLess) else {
            return false
        }
        return sequence.elements.contains { element in
            element.is(BinaryOperatorExprSyntax.self)
                && ["==", "!=", "<", "<=", ">", ">=", "===", "!=="].contains(element.trimmedDescription)
        }
    }

    private static let moved = ["<": "<=", "<=": "<", ">": ">=", ">=": ">"]

    /// Whether it is a comparison of two things by their order.
    var hasBound: Bool { withMovedBound != nil }

    /// The comparison with its bound taken in or left out; nil when it is no comparison.
    var withMovedBound: String? {
        guard let parts = self.as(SequenceExprSyntax.self).map({ Array($0.elements) }), parts.count == 3,
            let sign = parts[1].as(BinaryOperatorExprSyntax.self)?.operator.text, let other = Self.moved[sign]
        else { return nil }
        return "\(parts[0].trimmedDescription) \(other) \(parts[2].trimmedDescription)"
    }
}

extension BooleanLiteralExprSyntax {
    /// Whether it is one that something is given while it runs: no pattern, no default, no endless loop.
    var isValue: Bool {
        var above = parent
        while let node = above {
            if node.is(CodeBlockItemSyntax.self) || node.is(LabeledExprSyntax.self) { break }
            if node.is(ConditionElementSyntax.self) || node.is(InitializerClauseSyntax.self) { return false }
            above = node.parent
        }
        while let node = above {
            if node.is(SwitchCaseItemSyntax.self) || node.is(AttributeSyntax.self) { return false }
            if node.is(CodeBlockItemSyntax.self) { break }
            above = node.parent
        }
        return true
    }
}

extension [ExprSyntax] {
    /// The sides of the logical operators, in order.
    var operands: [Operand] {
        var found: [Operand] = []
        var side = ""
        var place: AbsolutePosition?
        func end(_ trailing: String) {
            let text = side.drop(while: \.isWhitespace)
            let body = text.reversed().drop(while: \.isWhitespace).reversed()
            var parser = Parser(String(body))
            found.append(
                Operand(
                    text: ExprSyntax.parse(from: &parser), place: place ?? AbsolutePosition(utf8Offset: 0),
                    leading: String(side.prefix(side.count - text.count)),
                    trailing: String(text.dropFirst(body.count)) + trailing))
            (side, place) = ("", nil)
        }
        for element in self {
            if element.isLogicalOperator {
                end(element.description)
            } else {
                place = place ?? element.positionAfterSkippingLeadingTrivia
                side += element.description
            }
        }
        end("")
        return found
    }
}

extension CodeBlockItemSyntax {
    /// Whether the program can do without it, as far as its grammar tells: a call or an assignment to a member.
    func canBeLeftOut(of list: CodeBlockItemListSyntax) -> Bool {
        guard case .expr(let expression) = item, expression.isCall || expression.isAssignment else { return false }
        // A stored property has to have a value.
        if expression.isAssignment, isOfInitializer { return false }
        guard list.count == 1 else { return true }
        // What stands alone may be the value.
        if list.parent?.is(ClosureExprSyntax.self) ?? true { return false }
        guard let owner = list.parent?.parent else { return false }
        if let function = owner.as(FunctionDeclSyntax.self) { return function.signature.returnClause == nil }
        return owner.is(IfExprSyntax.self) || owner.is(ForStmtSyntax.self) || owner.is(WhileStmtSyntax.self)
            || owner.is(DeferStmtSyntax.self)
    }
}

extension SyntaxProtocol {
    /// Whether it belongs to the body of an initializer.
    fileprivate var isOfInitializer: Bool {
        sequence(first: Syntax(self), next: \.parent).contains { $0.is(InitializerDeclSyntax.self) }
    }
}

extension ExprSyntax {
    fileprivate var isCall: Bool {
        if let effect = self.as(TryExprSyntax.self) { return effect.expression.isCall }
        if let effect = self.as(AwaitExprSyntax.self) { return effect.expression.isCall }
        return self.is(FunctionCallExprSyntax.self)
    }

    fileprivate var isAssignment: Bool {
        guard let sequence = self.as(SequenceExprSyntax.self), let target = sequence.elements.first else {
            return false
        }
        let isAssigned = sequence.elements.contains { element in
            element.is(AssignmentExprSyntax.self)
                || ["+=", "-=", "|=", "&="].contains(element.trimmedDescription)
        }
        return isAssigned && (target.is(MemberAccessExprSyntax.self) || target.is(SubscriptCallExprSyntax.self))
    }
}
