#!/usr/bin/env python3
"""Reads and changes fields of md superblocks in image files, for tests of bad input.

    superblock.py get FILE FIELD
    superblock.py set FILE... FIELD=VALUE...   the checksum is put right afterwards, unless sb_csum is set itself
    superblock.py dirty FILE...                the volume ranges of stripes whose bits are set, lines OFFSET LENGTH

A bit is set on every member before what it stands for is written; so `dirty` lists those that are set on all files that
the freshest one knows as members in sync. The others are looked at only to find that one.

FIELD is a name of FIELDS (struct mdp_superblock_1), role[N], or bitmap.NAME of BITMAP_FIELDS. The superblock is looked
for where 1.1, 1.2 and 1.0 keep it. Independent of mdvol's own code.
"""

import re
import struct
import sys

MAGIC = 0xA92B4EFC
FIELDS = {  # name: (offset, struct format)
    "magic": (0, "<I"), "major_version": (4, "<I"), "feature_map": (8, "<I"), "pad0": (12, "<I"),
    "ctime": (64, "<Q"), "level": (72, "<i"), "layout": (76, "<I"), "size": (80, "<Q"), "chunksize": (88, "<I"),
    "raid_disks": (92, "<I"), "bitmap_offset": (96, "<i"), "new_level": (100, "<I"), "reshape_position": (104, "<Q"),
    "data_offset": (128, "<Q"), "data_size": (136, "<Q"), "super_offset": (144, "<Q"), "recovery_offset": (152, "<Q"),
    "dev_number": (160, "<I"), "device_uuid": (168, "<Q"), "bblog_shift": (185, "<B"), "bblog_size": (186, "<H"),
    "bblog_offset": (188, "<i"), "utime": (192, "<Q"), "events": (200, "<Q"), "resync_offset": (208, "<Q"),
    "sb_csum": (216, "<I"), "max_dev": (220, "<I"), "logical_block_size": (224, "<I"), "pad3": (228, "<I"),
    "set_uuid": (16, "<Q"),
}
BITMAP_FIELDS = {
    "magic": (0, "<I"), "version": (4, "<I"), "uuid": (8, "<Q"), "events": (24, "<Q"), "events_cleared": (32, "<Q"),
    "sync_size": (40, "<Q"), "state": (48, "<I"), "chunksize": (52, "<I"), "daemon_sleep": (56, "<I"),
    "sectors_reserved": (64, "<I"),
}


def find_superblock(data):
    sectors = len(data) // 512
    for place in (0, 8, (sectors - 16) & ~7):
        if struct.unpack_from("<I", data, place * 512)[0] == MAGIC:
            return place * 512
    sys.exit("superblock.py: no superblock found")


def checksum(block):
    block = bytearray(block)
    struct.pack_into("<I", block, 216, 0)
    length = min(256 + 2 * struct.unpack_from("<I", block, 220)[0], len(block))
    total = sum(struct.unpack_from("<%dI" % (length // 4), block, 0))
    if length % 4:
        total += struct.unpack_from("<H", block, length // 4 * 4)[0]
    return ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF


def locate(data, name):
    """Where a field is: (offset in the file, struct format)."""
    start = find_superblock(data)
    if name.startswith("bitmap."):
        offset, form = BITMAP_FIELDS[name.removeprefix("bitmap.")]
        return start + 512 * struct.unpack_from("<i", data, start + 96)[0] + offset, form
    role = re.fullmatch(r"role\[(\d+)\]", name)
    if role:
        return start + 256 + 2 * int(role.group(1)), "<H"
    offset, form = FIELDS[name]
    return start + offset, form


def change(path, assignments):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    start = find_superblock(data)
    # All are located before anything changes.
    changes = [(*locate(data, name), int(value, 0)) for name, value in assignments]
    for offset, form, value in changes:
        if value < 0 and form[-1].isupper():
            value += 1 << 8 * struct.calcsize(form)
        struct.pack_into(form, data, offset, value)
    if "sb_csum" not in dict(assignments):
        struct.pack_into("<I", data, start + 216, checksum(data[start:start + 4096]))
    with open(path, "r+b") as file:  # In place: the file stays the same file, and sparse.
        file.seek(start)
        file.write(data[start:start + 4096])
        for offset, form, _ in changes:
            if not start <= offset < start + 4096:
                file.seek(offset)
                file.write(data[offset:offset + struct.calcsize(form)])


class Member:
    """What `dirty` needs of one file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())

    def get(self, name):
        offset, form = locate(self.data, name)
        return struct.unpack_from(form, self.data, offset)[0]

    def is_rebuilt(self):
        return not self.get("feature_map") & (2 | 16)  # a recovery offset, a replacement

    def bits(self):
        start = locate(self.data, "bitmap.magic")[0]
        sectors, chunk = self.get("bitmap.sync_size"), self.get("bitmap.chunksize")
        count = (sectors * 512 + chunk - 1) // chunk
        return {bit for bit in range(count) if self.data[start + 256 + bit // 8] >> bit % 8 & 1}


def dirty(paths):
    """Ascending volume ranges [offset, length], neighbours joined."""
    members = [Member(path) for path in paths]
    freshest = max(members, key=lambda member: member.get("events"))
    raid_disks, chunk = freshest.get("raid_disks"), freshest.get("bitmap.chunksize")
    if chunk % (512 * freshest.get("chunksize")):
        sys.exit("superblock.py: a bit stands for less than a stripe")
    newest = {}  # of each number; who had it before may be among the files
    for member in members:
        number = member.get("dev_number")
        if number not in newest or newest[number].get("events") < member.get("events"):
            newest[number] = member
    in_sync = [member for number, member in newest.items()
               if freshest.get("role[%d]" % number) < raid_disks and member.is_rebuilt()]
    ranges = []
    stretch = chunk * (raid_disks - 2)
    for bit in sorted(set.intersection(*(member.bits() for member in in_sync))):
        if ranges and sum(ranges[-1]) == bit * stretch:
            ranges[-1][1] += stretch
        else:
            ranges.append([bit * stretch, stretch])
    return ranges


def main():
    verb, arguments = sys.argv[1], sys.argv[2:]
    if verb == "get":
        with open(arguments[0], "rb") as file:
            data = bytearray(file.read())
        offset, form = locate(data, arguments[1])
        print(struct.unpack_from(form, data, offset)[0])
        return
    if verb == "dirty":
        for offset, length in dirty(arguments):
            print(offset, length)
        return
    assignments = [tuple(word.split("=")) for word in arguments if "=" in word]
    for path in (word for word in arguments if "=" not in word):
        change(path, assignments)


main()
