"""The bits of the codec `bounded`: a range decoder with adaptive probabilities, and differences made of its bits."""

OCTAVES = 24  # the last one stands for a value that is stored as it is
_LEAST_RANGE = 1 << 24
_RATES = [2 * 65536 // (2 * n + 4) for n in range(192)]


class BitModel:
    """The probability of a zero, times 2^16, and the number of bits seen."""

    __slots__ = ("seen", "zero")

    def __init__(self) -> None:
        self.zero, self.seen = 1 << 15, 0


class Bits:
    """Decodes the bits of a stream from byte `at` on."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self.at = data, at
        self._range, self._code = 0xFFFFFFFF, 0
        for _ in range(4):
            self._code = self._code << 8 | self._next()

    def _next(self) -> int:
        if self.at >= len(self._data):
            raise ValueError("values of the codec 'bounded' end early")
        self.at += 1
        return self._data[self.at - 1]

    def get(self, model: BitModel) -> bool:
        part = (self._range >> 16) * model.zero
        bit = self._code >= part
        if bit:
            self._code -= part
            self._range -= part
        else:
            self._range = part
        model.zero += ((32 if bit else 65504) - model.zero) * _RATES[model.seen] >> 16
        if model.seen + 1 < len(_RATES):
            model.seen += 1
        self._refill()
        return bit

    def plain(self, count: int) -> int:
        """Bits that are as likely as not, the highest first."""
        bits = 0
        while count > 0:
            now = min(count, 16)
            count -= now
            self._range >>= now
            part = min(self._code // self._range, (1 << now) - 1)
            self._code -= part * self._range
            bits = bits << now | part
            self._refill()
        return bits

    def _refill(self) -> None:
        while self._range < _LEAST_RANGE:
            self._range <<= 8
            self._code = (self._code << 8 | self._next()) & 0xFFFFFFFF


class _Context:
    def __init__(self) -> None:
        self.zero, self.sign = BitModel(), BitModel()
        self.longer = [BitModel() for _ in range(OCTAVES)]


class Residuals:
    """Differences between values and predictions, with the probabilities of a chunk."""

    def __init__(self) -> None:
        self._contexts: dict[tuple[int, int, int], _Context] = {}
        self._below = [[BitModel() for _ in range(3)] for _ in range(OCTAVES)]
        self._repeated = BitModel()

    @staticmethod
    def activity(near: int, count: int, before: int) -> int:
        """The class of the activity at a point: two for each octave."""
        activity = min(near * (0, 12, 6, 4, 3, 2, 2)[count] + 6 * before, 1023)
        if activity == 0:
            return 0
        octave = activity.bit_length() - 1
        return 1 + 2 * octave + (activity >> (octave - 1) & 1 if octave > 0 else 0)

    def difference(self, bits: Bits, key: tuple[int, int, int]) -> int | None:
        """The difference in steps; None if the value is stored as it is."""
        context = self._contexts.get(key)
        if context is None:
            context = self._contexts[key] = _Context()
        if not bits.get(context.zero):
            return 0
        octave = 0
        while octave + 1 < OCTAVES and bits.get(context.longer[octave]):
            octave += 1
        if octave + 1 == OCTAVES:
            return None
        negative, size = bits.get(context.sign), 1
        if octave > 0:
            below = self._below[octave]
            first = bits.get(below[0])
            size = 2 + first
            if octave > 1:
                size = size << 1 | bits.get(below[2 if first else 1])
                size = size << (octave - 2) | bits.plain(octave - 2)
        return -size if negative else size

    def exact(self, bits: Bits, width: int, last: int) -> int:
        """The bits of a value that is stored as it is, often those of the last such value."""
        return bits.plain(width) if not bits.get(self._repeated) else last
