/// A decision that can be made otherwise.
struct Site: CustomStringConvertible {
    enum Kind: String {
        /// A condition, or a part of one, means the opposite.
        case negated
        /// A comparison takes its bound in, or leaves it out.
        case bound
        /// A call or assignment is not made.
        case left
    }
    var number: Int
    var file: String
    var line: Int
    var kind: Kind
    /// What stands there, in one line.
    var text: String

    var description: String { "\(number)\t\(file)\t\(line)\t\(kind.rawValue)\t\(text)" }
}
