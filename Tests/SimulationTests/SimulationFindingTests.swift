import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// Faults found by the simulator, each as its shortest history. Numbers select from the entries at that time. Large: a test for each fault.
@Suite struct SimulationFindingTests {
    @Test func anItemIsRecordedBeforeItIsEvicted() async {
        await expectNoFault(
            .alone,
            [
                .local(.create(folder: 479, name: 409, content: Content(serial: 1))),
                .send,
                .evict(278),
                .local(.rename(227, folder: 465, name: 574, mayReplace: true)),
                .crash,
                .local(.remove(828)),
            ])
    }

    @Test func aNewItemWaitsForWhatMayHaveTakenItsPlace() async {
        await expectNoFault(
            .alone,
            [
                .local(.create(folder: 752, name: 450, content: Content(serial: 9))),
                .send,
                .receive,
                .dieAtCall(1, .after),
                .local(.rename(448, folder: 591, name: 776, mayReplace: true)),
                .local(.makeFolder(folder: 846, name: 510)),
                .local(.remove(638)),
                .receive,
                .send,
                .local(.rename(863, folder: 596, name: 633, mayReplace: true)),
                .local(.makeFolder(folder: 713, name: 26)),
            ])
    }

    @Test func aFileThatWasReplacedAndMovedIsFoundAfterACrash() async {
        await expectNoFault(
            .shared,
            [
                .local(.create(folder: 918, name: 958, content: Content(serial: 5))),
                .send,
                .remote(.create(folder: 485, name: 784, Content(serial: 6))),
                .remote(.move(404, folder: 967, name: 349)),
                .crashAfterApplying,
                .send,
            ])
    }

    @Test func anItemThatMovesIntoItsReplacementGivesWayFirst() async {
        await expectNoFault(
            .shared,
            [
                .local(.makeFolder(folder: 282, name: 637)),
                .local(.create(folder: 563, name: 350, content: Content(serial: 7))),
                .local(.remove(395)),
                .local(.makeFolder(folder: 587, name: 287)),
                .local(.makeSymlink(folder: 255, name: 692, Content(serial: 12))),
                .send,
                .local(.exchange(218, 61)),
                .local(.rename(943, folder: 446, name: 600, mayReplace: true)),
            ])
    }

    @Test func truncatingADatalessFileSurvivesAMoveInTheStore() async {
        await expectNoFault(
            .shared,
            [
                .remote(.create(folder: 969, name: 911, Content(serial: 8, isLarge: true))),
                .receive,
                .remote(.move(514, folder: 677, name: 660)),
                .local(.truncate(450, thirds: 2)),
            ])
    }

    @Test func newerStateInTheStoreEndsTheWaitAfterAFailure() async {
        await expectNoFault(
            .hostile,
            [
                .local(.create(folder: 246, name: 236, content: Content(serial: 2))),
                .fault(.modifyItem, .before, .cannotSynchronize("strange"), spared: 1),
                .local(.create(folder: 953, name: 413, content: Content(serial: 4, isLarge: true))),
                .send,
                .crash,
                .send,
                .send,
                .receive,
            ])
    }

    @Test func namesOfOneFileStayLinkedAfterACrash() async {
        await expectNoFault(
            .alone,
            [
                .local(.create(folder: 363, name: 836, content: Content(serial: 2))),
                .local(.rename(502, folder: 333, name: 705, mayReplace: false)),
                .send,
                .local(.save(809, Content(serial: 3))),
                .local(.link(414, folder: 234, name: 805)),
                .crash,
                .send,
                .local(.create(folder: 85, name: 645, content: Content(serial: 12))),
                .local(.changeMode(28, 436)),
                .send,
            ])
    }

    @Test func aTombstoneOfAnUnansweredCreateKeepsItsPlace() async {
        await expectNoFault(
            .alone,
            [
                .localDuringCall(0, .before, .create(folder: 718, name: 21, content: Content(serial: 1))),
                .local(.create(folder: 616, name: 172, content: Content(serial: 3))),
                .receive,
                .local(.create(folder: 683, name: 602, content: Content(serial: 7))),
                .send,
                .local(.remove(790)),
                .local(.create(folder: 856, name: 323, content: Content(serial: 11))),
                .fault(.createItem, .after, .serverUnreachable, spared: 1),
                .local(.create(folder: 323, name: 606, content: Content(serial: 14))),
                .local(.remove(497)),
                .send,
                .local(.rename(357, folder: 256, name: 869, mayReplace: true)),
                .receive,
            ])
    }

    @Test func unknownStaleItemsAreQueriedAgain() async {
        await expectNoFault(
            .hostile,
            [
                .local(.create(folder: 907, name: 161, content: Content(serial: 1))),
                .local(.create(folder: 699, name: 338, content: Content(serial: 2))),
                .send,
                .local(.link(771, folder: 645, name: 955)),
                .remote(.move(883, folder: 434, name: 716)),
                .remote(.overwrite(888, Content(serial: 4))),
                .local(.rename(475, folder: 67, name: 189, mayReplace: true)),
                .remote(.create(folder: 915, name: 18, Content(serial: 6))),
                .local(.create(folder: 294, name: 622, content: Content(serial: 7))),
                .dieAtCall(0, .after),
                .send,
                .local(.create(folder: 494, name: 368, content: Content(serial: 9))),
                .local(.makeFolder(folder: 659, name: 774)),
                .local(.rename(28, folder: 613, name: 748, mayReplace: true)),
                .receive,
                .local(.exchange(321, 502)),
                .local(.remove(385)),
                .send,
                .local(.rename(989, folder: 674, name: 258, mayReplace: true)),
                .local(.remove(970)),
            ])
    }

    @Test func aPlaceholderThatMovedBeforeACrashIsNoDeletion() async {
        await expectNoFault(
            .shared,
            [
                .remote(.create(folder: 505, name: 57, Content(serial: 1))),
                .receive,
                .remote(.create(folder: 254, name: 345, Content(serial: 3))),
                .remote(.move(599, folder: 647, name: 616)),
                .crashAfterApplying,
                .send,
            ])
    }

    /// Over an older database a file is in doubt; it was deleted before anybody compared it.
    @Test func itemsInDoubtCanBeDeleted() async {
        await expectNoFault(
            .restored,
            [
                .local(.create(folder: 137, name: 218, content: Content(serial: 4))),
                .local(.create(folder: 552, name: 331, content: Content(serial: 5))),
                .local(.makeFolder(folder: 456, name: 69)),
                .send,
                .copyDatabase,
                .local(.makeFolder(folder: 53, name: 951)),
                .oldDatabase,
                .local(.remove(452)),
            ])
    }

    @Test func newItemsOfARestoredFolderAreReleased() async {
        await expectNoFault(
            .restored,
            [
                .local(.makeFolder(folder: 552, name: 202)),
                .local(.makeFolder(folder: 7, name: 470)),
                .send,
                .copyDatabase,
                .local(.removeAll(398)),
                .crash,
                .oldDatabase,
            ])
    }

    @Test func onlyTheMissingFolderIsCreatedAgain() async {
        await expectNoFault(
            .restored,
            [
                .local(.makeFolder(folder: 148, name: 709)),
                .local(.makeSymlink(folder: 947, name: 196, Content(serial: 1))),
                .local(.create(folder: 563, name: 90, content: Content(serial: 2))),
                .local(.create(folder: 410, name: 794, content: Content(serial: 3))),
                .local(.create(folder: 509, name: 173, content: Content(serial: 9))),
                .local(.makeFolder(folder: 715, name: 381)),
                .local(.create(folder: 390, name: 977, content: Content(serial: 11))),
                .local(.makeFolder(folder: 859, name: 206)),
                .send,
                .local(.makeSymlink(folder: 460, name: 885, Content(serial: 13))),
                .local(.rename(825, folder: 411, name: 198, mayReplace: true)),
                .remote(.create(folder: 398, name: 875, Content(serial: 16))),
                .receive,
                .local(.tag(108, Content(serial: 18))),
                .remote(.delete(958)),
                .send,
            ])
    }

    @Test func aNameThatMovedOverAnotherOfItsFileWasNotRemoved() async {
        await expectNoFault(
            .restored,
            [
                .local(.create(folder: 460, name: 323, content: Content(serial: 3))),
                .local(.rename(279, folder: 921, name: 453, mayReplace: false)),
                .local(.makeFolder(folder: 72, name: 238)),
                .local(.makeFolder(folder: 209, name: 403)),
                .local(.create(folder: 3, name: 408, content: Content(serial: 14))),
                .local(.link(348, folder: 95, name: 58)),
                .send,
                .remote(.move(309, folder: 951, name: 774)),
                .crashAfterApplying,
            ])
    }

    @Test func otherNamesSurviveTheRemovalOfTheFirst() async {
        await expectNoFault(
            .hostile,
            [
                .localDuringCall(3, .before, .rename(44, folder: 514, name: 876, mayReplace: true)),
                .local(.create(folder: 535, name: 788, content: Content(serial: 2))),
                .fault(.createItem, .after, .serverUnreachable, spared: 0),
                .receive,
                .receive,
                .local(.link(386, folder: 198, name: 731)),
                .local(.create(folder: 746, name: 434, content: Content(serial: 5))),
                .local(.exchange(612, 631)),
                .local(.rename(768, folder: 472, name: 261, mayReplace: true)),
                .remote(.makeFolder(folder: 226, name: 329)),
                .local(.link(179, folder: 776, name: 85)),
                .send,
                .dieAtCall(2, .after),
                .localDuringCall(2, .before, .remove(561)),
                .send,
                .send,
                .remote(.overwrite(58, Content(serial: 12))),
            ])
    }

    @Test func lateBytesDoNotOverwriteWritesAfterATruncation() async {
        await expectNoFault(
            .restored,
            [
                .remote(.create(folder: 615, name: 773, Content(serial: 10))),
                .receive,
                .localDuringCall(1, .before, .overwrite(122, Content(serial: 14))),
                .receive,
                .local(.append(419, Content(serial: 16))),
            ])
    }

    @Test func anOlderDatabaseOfTheSameRunIsDetected() async {
        await expectNoFault(
            .restored,
            [
                .local(.create(folder: 133, name: 820, content: Content(serial: 1))),
                .send,
                .copyDatabase,
                .remoteDuringCall(0, .after, .overwrite(631, Content(serial: 2))),
                .local(.rename(491, folder: 485, name: 463, mayReplace: true)),
                .receive,
                .oldDatabase,
            ])
    }

    @Test func matchedItemsGetTheLocalMode() async {
        await expectNoFault(
            .restored,
            [
                .copyDatabase,
                .local(.create(folder: 73, name: 761, content: Content(serial: 4))),
                .send,
                .remote(.changeMode(675, 420)),
                .oldDatabase,
            ])
    }

    @Test func aListingFromBeforeASuccessionIsDropped() async {
        await expectNoFault(
            .restored,
            [
                .local(.create(folder: 560, name: 888, content: Content(serial: 3))),
                .local(.rename(411, folder: 580, name: 724, mayReplace: false)),
                .dieAtCall(4, .before),
                .send,
                .local(.create(folder: 642, name: 760, content: Content(serial: 6))),
                .remote(.create(folder: 138, name: 360, Content(serial: 7))),
                .send,
                .local(.create(folder: 385, name: 362, content: Content(serial: 10))),
                .receive,
                .remoteDuringCall(3, .after, .move(833, folder: 746, name: 344)),
                .local(.create(folder: 646, name: 402, content: Content(serial: 11))),
                .send,
                .send,
                .local(.makeFolder(folder: 945, name: 511)),
                .local(.create(folder: 828, name: 675, content: Content(serial: 14))),
                .crash,
                .local(.tag(807, Content(serial: 15))),
                .receive,
            ])
    }

    @Test func anExchangeOfANameOfAFileIsNoDeletion() async {
        await expectNoFault(
            .shared,
            [
                .local(.makeFolder(folder: 485, name: 762)),
                .local(.create(folder: 647, name: 593, content: Content(serial: 3))),
                .local(.link(228, folder: 540, name: 718)),
                .dieAtCall(4, .before),
                .send,
                .localDuringCall(0, .before, .exchange(151, 629)),
                .local(.overwrite(19, Content(serial: 10))),
                .local(.makeFolder(folder: 446, name: 413)),
                .send,
            ])
    }

    @Test func aPlaceholderOutlivesTheFileThatTookItsName() async {
        await expectNoFault(
            .alone,
            [
                .local(.create(folder: 365, name: 375, content: Content(serial: 2))),
                .send,
                .evict(897),
                .local(.rename(778, folder: 919, name: 210, mayReplace: false)),
                .receive,
                .local(.rename(702, folder: 979, name: 718, mayReplace: true)),
                .local(.create(folder: 636, name: 456, content: Content(serial: 5))),
                .crash,
            ])
    }

    @Test func truncatingADatalessFileSurvivesTheAnswerToAnotherChange() async {
        await expectNoFault(
            .alone,
            [
                .local(.create(folder: 208, name: 61, content: Content(serial: 4))),
                .local(.create(folder: 373, name: 525, content: Content(serial: 6))),
                .local(.create(folder: 655, name: 731, content: Content(serial: 11))),
                .send,
                .localDuringCall(0, .before, .truncate(335, thirds: 1)),
                .evict(557),
                .local(.create(folder: 657, name: 562, content: Content(serial: 13))),
                .local(.setXattr(403, Content(serial: 14))),
                .send,
            ])
    }

    @Test func itemsOfAReplacedFolderAreReleased() async {
        await expectNoFault(
            .restored,
            [
                .local(.makeFolder(folder: 252, name: 625)),
                .local(.create(folder: 991, name: 5, content: Content(serial: 4))),
                .send,
                .local(.removeAll(201)),
                .local(.makeFolder(folder: 415, name: 271)),
                .copyDatabase,
                .oldDatabase,
            ])
    }

    @Test func aFileRemovedUnderItsFirstNameKeepsItsSecond() async {
        await expectNoFault(
            .hostile,
            [
                .local(.makeFolder(folder: 617, name: 725)),
                .local(.makeFolder(folder: 444, name: 952)),
                .receive,
                .local(.create(folder: 690, name: 393, content: Content(serial: 8))),
                .fault(.createItem, .after, .cancelled, spared: 1),
                .remote(.create(folder: 215, name: 533, Content(serial: 9))),
                .remote(.create(folder: 272, name: 294, Content(serial: 10))),
                .send,
                .local(.rename(873, folder: 659, name: 225, mayReplace: false)),
                .local(.create(folder: 384, name: 398, content: Content(serial: 11))),
                .remote(.move(797, folder: 367, name: 102)),
                .receive,
                .local(.rename(689, folder: 889, name: 280, mayReplace: true)),
                .remote(.create(folder: 7, name: 768, Content(serial: 12))),
                .local(.removeAll(599)),
            ])
    }

    @Test func anItemMovedOverAnotherBeforeACrashIsKept() async {
        await expectNoFault(
            .restored,
            [
                .remote(.create(folder: 960, name: 928, Content(serial: 4))),
                .remote(.create(folder: 63, name: 371, Content(serial: 5))),
                .receive,
                .local(.overwrite(158, Content(serial: 7))),
                .remote(.makeFolder(folder: 83, name: 852)),
                .remote(.create(folder: 985, name: 308, Content(serial: 9))),
                .local(.rename(169, folder: 689, name: 661, mayReplace: true)),
                .send,
                .remote(.overwrite(203, Content(serial: 12))),
                .remote(.move(459, folder: 802, name: 157)),
                .crashAfterApplying,
                .send,
            ])
    }

    @Test func aFolderWithdrawnFromTheStoreIsNoLongerListed() async {
        await expectNoFault(
            .hostile,
            [
                .receive,
                .dieAtCall(1, .after),
                .local(.create(folder: 28, name: 636, content: Content(serial: 1))),
                .fault(.modifyItem, .before, .excludedFromSync, spared: 1),
                .receive,
                .remote(.makeFolder(folder: 685, name: 172)),
                .send,
                .send,
                .local(.makeFolder(folder: 473, name: 448)),
                .receive,
                .send,
            ])
    }

    @Test func aFileWithTwoNamesMovedOutOfARemovedFolderIsNotRemoved() async {
        await expectNoFault(
            .alone,
            [
                .local(.makeFolder(folder: 952, name: 314)),
                .receive,
                .local(.create(folder: 301, name: 862, content: Content(serial: 3))),
                .send,
                .dieAtCall(2, .before),
                .receive,
                .local(.changeMode(670, 384)),
                .send,
                .local(.rename(785, folder: 460, name: 84, mayReplace: false)),
                .local(.removeAll(876)),
                .local(.link(481, folder: 790, name: 314)),
                .receive,
            ])
    }

    /// The store has it under an interim name when another client writes it anew.
    @Test func aConflictWithinACycleOfMovesEnds() async {
        await expectNoFault(
            .hostile,
            [
                .local(.create(folder: 697, name: 220, content: Content(serial: 1))),
                .remote(.create(folder: 94, name: 565, Content(serial: 3))),
                .local(.rename(500, folder: 715, name: 966, mayReplace: true)),
                .local(.create(folder: 659, name: 758, content: Content(serial: 6))),
                .local(.create(folder: 556, name: 191, content: Content(serial: 7))),
                .remote(.create(folder: 529, name: 386, Content(serial: 9))),
                .send,
                .receive,
                .remote(.move(410, folder: 729, name: 339)),
                .local(.exchange(839, 656)),
                .remote(.create(folder: 439, name: 629, Content(serial: 16))),
                .crash,
                .send,
                .send,
                .remote(.delete(414)),
                .remote(.create(folder: 329, name: 374, Content(serial: 18))),
                .receive,
                .local(.create(folder: 768, name: 634, content: Content(serial: 20))),
                .send,
                .local(.remove(607)),
                .local(.exchange(488, 780)),
            ])
    }

    private func expectNoFault(
        _ profile: Profile, _ steps: [Step], location: SourceLocation = #_sourceLocation
    ) async {
        let outcome = await Simulation.run(1, profile, steps)
        #expect(outcome.failure == nil, "\(outcome.report)", sourceLocation: location)
    }
}
