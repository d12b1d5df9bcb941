"""Databases that somebody has forged: numbers and texts are changed, and all checksums are right."""

import struct

import xxhash

SLOT = 256
ENDS = (0, 1, 2, 7, 255, 1 << 16, 1 << 26, 1 << 31, (1 << 32) - 1, 1 << 53, 1 << 62, (1 << 63) - 1, (1 << 64) - 1)


def _sum(data):
    return xxhash.xxh3_64_intdigest(bytes(data))


class Opened:
    """A context in memory."""

    def __init__(self, directory, slot):
        self.directory, self.slot = directory, slot
        self.slots = bytearray((directory / "contexts").read_bytes())
        head = self.slots[slot * SLOT : (slot + 1) * SLOT]
        self.run = struct.unpack_from("<I", head, 12)[0]
        self.group, self.number, self.offset, self.size = struct.unpack_from("<IIQQ", head, 88)
        self.path = directory / f"segment-{self.run:04}-{self.group:06}-{self.number:04}.h5"
        self.segment = bytearray(self.path.read_bytes())
        self.record = self.segment[self.offset : self.offset + self.size]
        self.text_length = struct.unpack_from("<Q", self.record, 8)[0]
        self.groups_at = 24 + -(-self.text_length // 8) * 8

    def tables(self):
        """The beginning of the first group's tables, the bytes of the blocks' table, and those of the others."""
        at, blocks, pieces, chunks = struct.unpack_from("<QQQQ", self.record, self.groups_at + 24)
        return at, blocks * 144, pieces * 40 + chunks * 16

    def seal(self):
        """Writes everything, with the record at the end of the segment."""
        at, blocks, rest = self.tables()
        if at + blocks + rest <= len(self.segment):
            sums = _sum(self.segment[at : at + blocks]), _sum(self.segment[at + blocks : at + blocks + rest])
            struct.pack_into("<QQ", self.record, self.groups_at + 56, *sums)
        self.segment += bytes(-len(self.segment) % 64)
        place = len(self.segment)
        self.segment += self.record
        head = self.slots[self.slot * SLOT : (self.slot + 1) * SLOT]
        struct.pack_into("<QQQ", head, 96, place, len(self.record), _sum(self.record))
        struct.pack_into("<Q", head, 248, _sum(head[:248]))
        self.slots[self.slot * SLOT : (self.slot + 1) * SLOT] = head
        self.path.write_bytes(self.segment)
        (self.directory / "contexts").write_bytes(self.slots)

    def set_text(self, text):
        groups = self.record[self.groups_at :]
        self.text_length = len(text)
        self.groups_at = 24 + -(-len(text) // 8) * 8
        self.record = bytearray(self.record[:24] + text + bytes(-len(text) % 8) + groups)
        struct.pack_into("<Q", self.record, 8, len(text))

    def text(self):
        return bytes(self.record[24 : 24 + self.text_length])


def _of_text(context, chance):
    """Changes a number, word or sign in the context's description of itself."""
    text = context.text()
    places = [n for n in range(len(text)) if text[n : n + 1].isdigit()] if chance.random() < 0.6 else range(len(text))
    at = chance.choice(list(places))
    new = chance.choice([b"0", b"9", b"-1", b"1000000", b"99999999999999999999", b'"', b"]", b"null", b"x", b""])
    context.set_text(text[:at] + new + text[at + 1 :])
    return f"text at {at}: {new}"


def _of_groups(context, chance):
    """Changes a number in the entry of the group."""
    offset, kind = chance.choice([(n, "<I") for n in range(0, 24, 4)] + [(n, "<Q") for n in range(24, 56, 8)])
    value = chance.choice(ENDS) % (1 << 8 * struct.calcsize(kind))
    struct.pack_into(kind, context.record, context.groups_at + offset, value)
    return f"group at {offset}: {value}"


def _of_tables(context, chance):
    """Changes a number in a row of a block, a piece or a chunk."""
    at, blocks, rest = context.tables()
    where = chance.randrange(0, blocks + rest, 4)
    kind = chance.choice(["<I", "<Q"] if where + 8 <= blocks + rest else ["<I"])
    value = chance.choice(ENDS) % (1 << 8 * struct.calcsize(kind))
    struct.pack_into(kind, context.segment, at + where, value)
    return f"tables at {where} of {blocks} + {rest}: {value}"


def forge(directory, chance):
    """Changes one thing; returns what it changed."""
    context = Opened(directory, 1)
    said = chance.choice([_of_text, _of_text, _of_groups, _of_tables, _of_tables])(context, chance)
    context.seal()
    return said


def replace_text(directory, old, new):
    context = Opened(directory, 1)
    text = context.text()
    assert old.encode() in text, text
    context.set_text(text.replace(old.encode(), new.encode(), 1))
    context.seal()


def remove(directory, number):
    """Marks a context as removed in a slot."""
    path = directory / "contexts"
    slots = path.read_bytes()
    slot = bytearray(SLOT)
    struct.pack_into("<8sIIQQ", slot, 0, b"SDSREMVD", 1, 0, len(slots) // SLOT, number)
    struct.pack_into("<Q", slot, 248, _sum(slot[:248]))
    path.write_bytes(slots + slot)


def newer_head(slots):
    """The same slots, with a version of the format that does not exist yet."""
    head = bytearray(slots[:SLOT])
    struct.pack_into("<I", head, 8, 3)
    struct.pack_into("<Q", head, 248, _sum(head[:248]))
    return bytes(head) + slots[SLOT:]
