/// Where an item is: a name in a folder.
struct ItemPlace: Hashable {
    var folder: ItemNumber
    var name: FileName
}
