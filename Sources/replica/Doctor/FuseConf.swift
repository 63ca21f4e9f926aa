/// /etc/fuse.conf, as fusermount3 reads it.
struct FuseConf: Equatable {
    var allowsOthers = false
    var mountMax = 1000

    init() {}

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "=" }
            if words == ["user_allow_other"] { allowsOthers = true }
            if words.count == 2, words[0] == "mount_max", let number = Int(words[1]) { mountMax = number }
        }
    }
}
