extension CutCase {
    private static let untouched = after { _ in }
    private static let appended = after { $0.write(longer, to: "w/f") }
    private static let replaced = after { $0.write(new, to: "w/f") }
    private static let moved = after { $0.move("w/f", to: "w/g") }
    private static let linkedAndMoved = after { record in
        record.place(record.present["w/f"], at: "w/h")
        record.move("w/f", to: "w/g")
    }
    private static let unlinkedAndMoved = after { record in
        record.place(record.present["w/f"], at: "w/h")
        record.place(nil, at: "w/h")
        record.move("w/f", to: "w/g")
    }
    private static let movedAndSynced = after {
        $0.move("w/f", to: "w/g")
        $0.syncFolder("w")
    }
    private static let editedAndSynced = after {
        $0.write(new, to: "w/f")
        $0.sync("w/f", withAttributes: true)
    }
    private static let syncedCut = after {
        $0.write(new, to: "w/f")
        $0.sync("w/f", withAttributes: true)
        $0.write(Array(new[..<400]), to: "w/f")
        $0.write(Array(new[..<2000]), to: "w/f")
    }
    private static let cutTail = Array(new[..<400]) + [UInt8](repeating: 0, count: 1600)
    private static let bothThere: [String: FoundTree.Entry] = ["w": .folder, "w/f": file(old)]
    private static let editedAndRemoved = after {
        $0.write(new, to: "w/f")
        $0.sync("w/f", withAttributes: true)
        $0.place(nil, at: "w/f")
    }
    private static let editedLinkedAndRemoved = after {
        $0.write(new, to: "w/f")
        $0.sync("w/f", withAttributes: true)
        $0.place($0.present["w/f"], at: "w/l")
        $0.place(nil, at: "w/f")
    }
    private static let savedMovedAndRemoved = after {
        $0.makeFile("w/n")
        $0.write(new, to: "w/n")
        $0.sync("w/n", withAttributes: true)
        $0.move("w/n", to: "w/f")
        $0.move("w/f", to: "w/g")
        $0.place(nil, at: "w/g")
    }
    private static let savedAndSynced = after {
        $0.makeFile("w/n")
        $0.write(new, to: "w/n")
        $0.sync("w/n", withAttributes: true)
        $0.move("w/n", to: "w/f")
        $0.syncFolder("w")
    }
    private static let rewritten = after {
        $0.write([], to: "w/f")
        $0.write(new, to: "w/f")
        $0.forgetPassing("w/f")
    }
    private static let syncedAndRewritten = after {
        $0.makeFile("w/n")
        $0.write(new, to: "w/n")
        $0.sync("w/n", withAttributes: true)
        $0.write([], to: "w/n")
        $0.write(old, to: "w/n")
        $0.forgetPassing("w/n")
    }
    private static let savedAndNameSynced = after {
        $0.makeFile("w/n")
        $0.write(new, to: "w/n")
        $0.move("w/n", to: "w/f")
        $0.syncFolder("w")
    }
    private static let movedAndRemoved = after {
        $0.move("w/f", to: "w/g")
        $0.syncFolder("w")
        $0.place(nil, at: "w/g")
    }
    private static let movedAndDataSynced = after {
        $0.move("w/f", to: "w/g")
        $0.sync("w/g", withAttributes: false)
    }
    private static let removedAndRenamed = after {
        $0.makeFolder("w/d")
        $0.makeFile("w/d/n")
        $0.write(new, to: "w/d/n")
        $0.place(nil, at: "w/d/n")
        $0.move("w/d", to: "w/e")
    }
    private static let made = after {
        $0.makeFile("w/n")
        $0.write(new, to: "w/n")
    }
    private static let madeAndSynced = after {
        $0.makeFile("w/n")
        $0.write(new, to: "w/n")
        $0.sync("w/n", withAttributes: true)
    }
    /// Saved as a temporary file and renamed, without a sync.
    private static let saved = after {
        $0.makeFile("w/n")
        $0.write(new, to: "w/n")
        $0.forgetPassing("w/n")
        $0.move("w/n", to: "w/f")
    }
    private static let savedOnDisk = after {
        $0.makeFile("w/n")
        $0.write(new, to: "w/n")
        $0.syncDisk()
    }
    private static let unlinked = after { $0.place(nil, at: "w/f") }
    private static let unlinkedAndSynced = after {
        $0.place(nil, at: "w/f")
        $0.syncFolder("w")
    }
    private static let linked = after { $0.place($0.present["w/f"], at: "w/l") }
    private static let pointing = after {
        $0.place(.symlink("target"), at: "w/s")
        $0.syncFolder("w")
    }
    private static let markedAndSynced = after {
        $0.set(.init(mode: 0o600, mark: Array("mark".utf8)), of: "w/f")
        $0.sync("w/f", withAttributes: true)
    }

    private static let conflict = "f (conflict 2026-01-01)"
    private static let mixed = Array(old[..<4096] + new[4096..<8192] + old[8192...])
    private static let torn = Array(new[..<5000] + old[5000...])
    private static let empty = file([])

    static let allowed: [CutCase] = [
        .init("all as told", untouched, holding(["f": file(old)])),
        .init("an append came undone", appended, holding(["f": file(old)])),
        .init("an append is there", appended, holding(["f": file(longer)])),
        .init("zeros at the end, the store was cut too", appended, holding(["f": file(zeroTail)], isStoreCut: true)),
        .init("blocks of both contents", replaced, holding(["f": file(mixed)])),
        .init("a rename came undone", moved, holding(["f": file(old)])),
        .init(
            "both names of a renamed one of two", linkedAndMoved,
            holding(["f": file(old), "g": file(old), "h": file(old)])),
        .init("a rename came undone, whose file's data was synced", movedAndDataSynced, holding(["f": file(old)])),
        .init(
            "a removal came undone in a folder that was renamed", removedAndRenamed,
            found(["w": .folder, "w/f": file(old), "w/e": .folder, "w/e/n": file(new)])),
        .init("a removal after a synced rename came undone", movedAndRemoved, holding(["f": file(old)])),
        .init("a removal of what was edited and synced came undone", editedAndRemoved, holding(["f": file(old)])),
        .init(
            "a removal of one name of what was edited and synced came undone", editedLinkedAndRemoved,
            holding(["f": file(old), "l": file(new)])),
        .init("a removal of what took an item over came undone", savedMovedAndRemoved, holding(["g": file(old)])),
        .init(
            "a save whose name was synced lost its content", savedAndNameSynced, holding(["f": file(old)])),
        .init(
            "a new file that was synced and written anew is empty", syncedAndRewritten,
            holding(["f": file(old), "n": empty])),
        .init(
            "a save whose name was synced, kept beside the store's content", savedAndNameSynced,
            holding(["f": file(old), conflict: file(new)])),
        .init("zeros behind where a synced file was cut", syncedCut, holding(["f": file(cutTail)])),
        .init(
            "another replica brought a synced removal back", unlinkedAndSynced,
            CutOutcome(
                mounts: [FoundTree(bothThere), FoundTree(bothThere)], store: FoundTree(bothThere), isStoreCut: false)),
        .init("a rename is there", moved, holding(["g": file(old)])),
        .init("a new file is missing", made, holding(["f": file(old)])),
        .init("a new file is empty", made, holding(["f": file(old), "n": empty])),
        .init("a new file's end is missing", made, holding(["f": file(old), "n": file(Array(new[..<4096]))])),
        .init("a save came undone", saved, holding(["f": file(old)])),
        .init("a save came undone by half", saved, holding(["f": file(old), "n": empty])),
        .init("a deletion came undone", unlinked, holding(["f": file(old)])),
        .init("a deletion is there", unlinked, holding([:])),
        .init("both names of one file", linked, holding(["f": file(old), "l": file(old)])),
        .init("a synced mode and mark", markedAndSynced, holding(["f": file(old, mode: 0o600, mark: "mark")])),
        .init(
            "both sides had bytes of their own", replaced, holding(["f": file(old), conflict: file(new)])),
        .init("confirmed bytes are beside the tree", moved, holding([:], kept: [old])),
        .init("a call without an answer", untouched, attempted: appended, holding(["f": file(longer)])),
        .init("a file that was confirmed empty", waited("w/f", []), holding(["f": empty])),
        .init(
            "numbers of inodes differ", untouched,
            found(
                ["w": .folder, "w/f": file(old, inode: 1)], store: ["w": .folder, "w/f": file(old, inode: 2)])),
    ]

    static let forbidden: [CutCase] = [
        .init(
            "emptiness where the store had bytes", untouched, holding(["f": empty]), "w/f: a file, 0 bytes", "nowhere"),
        .init(
            "emptiness where bytes were synced", madeAndSynced, holding(["f": file(old), "n": empty]),
            "w/n: a file, 0 bytes", "w/n: nowhere whole"),
        .init(
            "emptiness, the store was cut too", untouched, holding(["f": empty], isStoreCut: true),
            "w/f: a file, 0 bytes", "nowhere"),
        .init("emptiness over the store's good copy", saved, holding(["f": empty]), "w/f: a file, 0 bytes"),
        .init(
            "zeros in the tail of an append", appended, holding(["f": file(zeroTail)]), "(zeros from 9000 on)",
            "nowhere"),
        .init(
            "zeros within what was synced", madeAndSynced,
            holding(["f": file(old), "n": file(new[..<8192] + [UInt8](repeating: 0, count: 808))]),
            "w/n: a file, 9000 bytes", "w/n: nowhere whole"),
        .init(
            "a shorter file than was synced", madeAndSynced, holding(["f": file(old), "n": file(Array(new[..<8192]))]),
            "w/n: a file, 8192 bytes", "w/n: nowhere whole"),
        .init("two contents in one block", replaced, holding(["f": file(torn)]), "w/f: a file", "nowhere"),
        .init("a twin", untouched, holding(["f": file(old), "f 2": file(old)]), "w/f 2: a file, 9000 bytes"),
        .init("an empty twin", untouched, holding(["f": file(old), "f 2": empty]), "w/f 2: a file, 0 bytes"),
        .init(
            "a file that nobody removed in a folder that was renamed", removedAndRenamed,
            found(["w": .folder, "w/f": file(old), "w/e": .folder, "w/e/n": file(old)]), "nobody made it"),
        .init(
            "an older content than was synced", editedAndSynced, holding(["f": file(old)]), "w/f: a file, 9000 bytes",
            "nowhere"),
        .init(
            "an older content than was synced under the name that is left", editedLinkedAndRemoved,
            holding(["l": file(old)]), "w/l: a file, 9000 bytes", "nowhere"),
        .init(
            "a synced save is nowhere", savedAndSynced, holding(["f": file(old)]), "w/f: a file", "w/f: nowhere whole"),
        .init(
            "emptiness where the store had bytes, which were written anew", rewritten, holding(["f": empty]),
            "w/f: a file, 0 bytes", "nowhere"),
        .init(
            "a content that the removed name never had", savedMovedAndRemoved, holding(["g": file(longer)]),
            "w/g: a file, 13000 bytes"),
        .init("a folder that nobody made", untouched, holding(["f": file(old), "d": .folder]), "w/d: a folder"),
        .init(
            "both names of a rename, of a file that had a second name before", unlinkedAndMoved,
            holding(["f": file(old), "g": file(old)]), "had one name at a time"),
        .init("both names of a rename", moved, holding(["f": file(old), "g": file(old)]), "had one name at a time"),
        .init("a name is lost", untouched, holding([:]), "w/f: missing", "w/f: nowhere whole"),
        .init("a synced name is lost", movedAndSynced, holding(["f": file(old)]), "may be nothing", "w/g: missing"),
        .init("a synced file is lost", madeAndSynced, holding(["f": file(old)]), "w/n: missing", "w/n: nowhere whole"),
        .init("a synced deletion came undone", unlinkedAndSynced, holding(["f": file(old)]), "may be nothing"),
        .init(
            "the store has other bytes", replaced,
            found(["w": .folder, "w/f": file(old)], store: ["w": .folder, "w/f": file(new)]), "domain 0 has"),
        .init(
            "the store has another mode", untouched,
            found(["w": .folder, "w/f": file(old)], store: ["w": .folder, "w/f": file(old, mode: 0o600)]),
            "domain 0 has"),
        .init(
            "the store has nothing", untouched, found(["w": .folder, "w/f": file(old)], store: ["w": .folder]),
            "the store nothing"),
        .init(
            "the store has more", untouched,
            found(["w": .folder, "w/f": file(old)], store: ["w": .folder, "w/f": file(old), "w/x": file(new)]),
            "w/x: domain 0 has nothing"),
        .init("another domain differs", untouched, besideAnother, "domain 1 has nothing"),
        .init(
            "no rest", untouched, found(["w": .folder, "w/f": file(old)], unrest: ["pending: w/f"]), "pending: w/f"),
        .init(
            "a copy of the same", untouched, holding(["f": file(old), conflict: file(old)]), "has nothing of its own"),
        .init(
            "a copy of less", appended, holding(["f": file(longer), conflict: file(zeroTail)]), "has nothing of its own"
        ),
        .init("an empty copy", untouched, holding(["f": file(old), conflict: empty]), "has nothing of its own"),
        .init(
            "a copy that nobody wrote", untouched, holding(["f": file(old), conflict: file(new)]), "which nobody wrote"),
        .init("confirmed bytes are nowhere", moved, holding([:]), "w/g: nowhere whole"),
        .init(
            "bytes on the disk are nowhere", savedOnDisk, holding(["f": file(old), "n": empty]), "w/n: nowhere whole"),
        .init("a mode that nobody set", untouched, holding(["f": file(old, mode: 0o666)]), "w/f: a file"),
        .init("a synced mode is lost", markedAndSynced, holding(["f": file(old, mark: "mark")]), "w/f: a file"),
        .init("a synced mark is lost", markedAndSynced, holding(["f": file(old, mode: 0o600)]), "w/f: a file"),
        .init(
            "a folder in a file's place", untouched, holding(["f": .folder], kept: [old]), "w/f: a folder, may be"),
        .init(
            "a link to elsewhere", pointing, holding(["f": file(old), "s": .symlink("other")]), "w/s: a link to other"),
    ]

    private static var besideAnother: CutOutcome {
        var outcome = holding(["f": file(old)])
        outcome.mounts.append(FoundTree(["w": .folder]))
        return outcome
    }
}
