/// Programs that read every file they find, and would download a whole domain without being asked to.
enum IndexersAndThumbnailers {
    /// Thumbnailers, indexers and updatedb, by their executables; replaced by `nohydrate=`.
    static let known = thumbnailers + indexers

    private static let thumbnailers = [
        "tumblerd", "gdk-pixbuf-thumbnailer", "glycin-thumbnailer", "gnome-thumbnail-font", "evince-thumbnailer",
        "papers-thumbnailer", "totem-video-thumbnailer", "ffmpegthumbnailer", "ffmpegthumbs", "gsf-office-thumbnailer",
        "atril-thumbnailer", "xreader-thumbnailer", "raw-thumbnailer", "webp-pixbuf-thumbnailer", "thumbnail.so",
    ]

    private static let indexers = [
        "tracker-miner-fs-3", "tracker-extract-3", "tracker-miner-fs", "tracker-extract", "localsearch-3",
        "localsearch-extractor-3", "localsearch", "localsearch-extractor", "baloo_file", "baloo_file_extractor",
        "recollindex", "zeitgeist-datahub", "updatedb", "updatedb.plocate", "updatedb.mlocate", "mlocate",
    ]
}
