import ReplicaModel
import ReplicaTestSupport

/// What may happen in a world.
enum Profile: Sendable {
    /// Nobody else uses the store: whatever fails and crashes, the tree stays exactly as the user made it.
    case alone
    /// Another client works in the store.
    case shared
    /// The same, with errors that make no sense where they come.
    case hostile
    /// The same as shared, and older databases come back.
    case restored
    /// The same as shared, where the store deletes much and a few deletions open a window, with pins, refusals of single
    /// items, and a clock that is set.
    case guarded

    /// Those that the seeds take turns in.
    static let common: [Profile] = [.alone, .shared, .hostile, .restored]

    var hasOtherClient: Bool { self != .alone }
}

/// Makes the steps of a seed.
struct StepMaker {
    private var random: SeededGenerator
    private var serial = 0
    let profile: Profile

    init(seed: UInt64, profile: Profile) {
        random = SeededGenerator(seed: seed)
        self.profile = profile
    }

    mutating func steps(_ count: Int) -> [Step] { (0..<count).map { _ in step() } }

    private mutating func step() -> Step {
        if profile == .guarded, random.chance(25) { return guarded() }
        return switch random.below(100) {
        case 0..<40: .local(local())
        case 40..<56: profile.hasOtherClient ? .remote(remote()) : .local(local())
        case 56..<66: .receive
        case 66..<76: .send
        case 76..<79: .pass(random.one(of: [1, 3, 60, 400]))
        case 79..<92: storeFailure()
        default: upkeep()
        }
    }

    private mutating func guarded() -> Step {
        switch random.below(100) {
        case 0..<30: .remote(.deleteMost(random.below(12)))
        case 30..<42: .approve
        case 42..<52: .giveAgain
        case 52..<62: .pin(pick())
        case 62..<68: .unpin(pick())
        case 68..<78: .keep
        case 78..<88: .refuse(pick(), times: 1 + random.below(6))
        case 88..<94: .pass(random.one(of: [1, 5, 61, 3601]))
        default: .setClock(random.one(of: [-1, 30, -4000, 900_000, -100_000_000, 100_000_000]))
        }
    }

    private mutating func storeFailure() -> Step {
        switch random.below(100) {
        case 0..<40: fault()
        case 40..<55: .dieAtCall(random.below(5), moment())
        case 55..<68: .localDuringCall(random.below(4), moment(), local())
        case 68..<78:
            profile.hasOtherClient
                ? .remoteDuringCall(random.below(4), moment(), remote()) : .localDuringCall(0, moment(), local())
        case 78..<86: .crash
        case 86..<92: .crashAfterApplying
        case 92..<95: .expireAnchors
        default: profile == .restored ? (random.chance(50) ? .copyDatabase : .oldDatabase) : .crash
        }
    }

    private mutating func upkeep() -> Step {
        switch random.below(10) {
        case 0..<2: .evict(random.below(1000))
        case 2..<4: .fetch(random.below(1000), third: random.below(4))
        case 4: .list(random.below(1000))
        case 5: .restart
        case 6: .batchSize(1 + random.below(4))
        case 7: .shuffleBatches(random.next())
        case 8: profile == .restored ? .copyDatabase : .record
        default: .record
        }
    }

    private mutating func moment() -> FaultyStore.Moment { random.chance(50) ? .before : .after }

    private mutating func fault() -> Step {
        let method = random.one(of: Self.methods)
        let moment = moment()
        let passing: [RemoteStoreError] = [.serverUnreachable, .cancelled]
        guard moment == .before else {
            return .fault(method, .after, random.one(of: passing), spared: random.below(3))
        }
        let all = passing + [.notAuthenticated, .insufficientQuota] + (profile == .hostile ? Self.strange(method) : [])
        return .fault(method, .before, random.one(of: all), spared: random.below(3))
    }

    private static let methods: [StoreCall.Method] = [
        .item, .enumerateItems, .currentAnchor, .enumerateChanges, .fetchContents, .createItem, .createItem,
        .itemCreated, .modifyItem, .modifyItem, .deleteItem,
    ]

    /// What else a call may answer. "Gone" is left out: it is positive proof, and the store would lie.
    private static func strange(_ method: StoreCall.Method) -> [RemoteStoreError] {
        let common: [RemoteStoreError] = [
            .cannotSynchronize("strange"), .unsupported("strange"), .versionConflict(nil),
        ]
        return switch method {
        case .enumerateChanges, .enumerateItems, .currentAnchor: [.syncAnchorExpired]
        case .createItem: common + [.filenameCollision(nil), .excludedFromSync]
        case .modifyItem: common + [.filenameCollision(nil), .excludedFromSync]
        case .deleteItem: common + [.deletionRejected(nil), .directoryNotEmpty(.root)]
        case .fetchContents: common + [.versionNoLongerAvailable]
        default: common
        }
    }
}

extension StepMaker {
    private mutating func content() -> Content {
        serial += 1
        return Content(serial: serial, isLarge: random.chance(4))
    }

    private mutating func pick() -> Int { random.below(1000) }
    private mutating func mode() -> UInt16 { random.one(of: [0o600, 0o640, 0o644, 0o664, 0o700, 0o755]) }

    fileprivate mutating func local() -> LocalStep {
        switch random.below(100) {
        case 0..<18: .create(folder: pick(), name: pick(), content: content())
        case 18..<28: .overwrite(pick(), content())
        case 28..<31: .append(pick(), content())
        case 31..<34: .truncate(pick(), thirds: random.below(3))
        case 34..<40: .save(pick(), content())
        case 40..<57: .rename(pick(), folder: pick(), name: pick(), mayReplace: random.chance(60))
        case 57..<60: .exchange(pick(), pick())
        case 60..<70: .remove(pick())
        case 70..<73: .removeAll(pick())
        case 73..<82: .makeFolder(folder: pick(), name: pick())
        case 82..<84: .makeSymlink(folder: pick(), name: pick(), content())
        case 84..<86: .link(pick(), folder: pick(), name: pick())
        case 86..<89: .changeMode(pick(), mode())
        case 89..<91: .changeTime(pick(), seconds: 1 + random.below(100_000))
        case 91..<93: .setXattr(pick(), content())
        case 93: .removeXattr(pick())
        case 94..<96: .tag(pick(), content())
        case 96..<98: .hold(pick(), content())
        default: .releaseAll
        }
    }

    fileprivate mutating func remote() -> RemoteStep {
        switch random.below(100) {
        case 0..<25: .create(folder: pick(), name: pick(), content())
        case 25..<45: .overwrite(pick(), content())
        case 45..<58: .makeFolder(folder: pick(), name: pick())
        case 58..<62: .makeSymlink(folder: pick(), name: pick(), content())
        case 62..<80: .move(pick(), folder: pick(), name: pick())
        case 80..<92: .delete(pick())
        case 92..<96: .changeMode(pick(), mode())
        default: .setXattr(pick(), content())
        }
    }
}
