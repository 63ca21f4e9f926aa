internal import Glibc

/// Times in the formats of servers, in seconds since 1970.
package enum ServerTime {
    /// The format of signatures: `20130524T000000Z`.
    package static func stamp(_ seconds: Int64) -> String { text(seconds, "%Y%m%dT%H%M%SZ") }

    /// The format of headers: `Wed, 21 Oct 2015 07:28:00 GMT`.
    package static func header(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, let month = months.firstIndex(of: words[2]) else { return nil }
        return seconds(words[3], month, words[1], words[4])
    }

    /// The format of listings: `2009-10-12T17:50:30.000Z`, in whole seconds.
    package static func listing(_ text: String) -> Int64? {
        let words = text.split(separator: "T")
        let day = (words.first ?? "").split(separator: "-")
        guard words.count == 2, day.count == 3, let month = Int(day[1]) else { return nil }
        return seconds(day[0], month - 1, day[2], words[1])
    }

    /// The time of this machine's clock.
    package static var localNow: Int64 { Int64(time(nil)) }

    private static func text(_ seconds: Int64, _ format: String) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&moment, &parts) != nil else { return "" }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(separator: " ")

    private static func seconds(_ year: Substring, _ month: Int, _ day: Substring, _ time: Substring) -> Int64? {
        let clock = time.prefix(8).split(separator: ":").map { Int32($0) ?? -1 }
        guard year.utf8.count == 4, let year = Int32(year), let day = Int32(day), clock.count == 3,
            (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0...60).contains(clock[2]),
            (1970...9999).contains(year), (0..<12).contains(month), (1...31).contains(day)
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1_900, Int32(month), day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (clock[0], clock[1], clock[2])
        return Int64(timegm(&parts))
    }
}
