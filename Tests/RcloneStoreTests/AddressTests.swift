import Testing

@testable import RcloneStore

/// `rclone:remote:path`.
@Suite struct AddressTests {
    @Test(arguments: [
        ("rclone:photos:", "photos:"), ("rclone:photos:a/b/", "photos:a/b"), ("rclone://photos:a", "photos:a"),
        ("RCLONE:my drive:/x", "my drive:/x"), ("rclone::memory:b", ":memory:b"), ("rclone:x:/", "x:/"),
        ("rclone:s3,no_head=true:b", "s3,no_head=true:b"), ("rclone:mail:user@host/x", "mail:user@host/x"),
    ])
    func whatItNames(_ text: String, _ root: String) throws {
        #expect(try RcloneAddress(text).root == root)
    }

    @Test(arguments: [
        ("rclone:", "names no remote"), ("rclone:photos", "names no remote"), ("rclone:/srv/x", "names no remote"),
        ("rclone:a/b:c", "names no remote"), ("rclone:::x", "names no remote"), ("rclone:a:b]c", "']'"),
        ("rclone:a:b\nc", "control characters"), ("rclone::s3,secret_access_key=x:b", "holds a secret"),
        ("rclone:x,Pass=y:b", "holds a secret"), ("sftp://a/b", "no URL of rclone's"),
    ])
    func whatItRefuses(_ text: String, _ words: String) {
        let error = #expect(throws: RcloneAddress.Invalid.self) { try RcloneAddress(text) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }
}
