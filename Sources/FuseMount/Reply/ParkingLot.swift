/// placeholder
final class ParkingLot: @unchecked Sendable {
    func answered() {}
}
final class ParkedRequest: @unchecked Sendable {}
