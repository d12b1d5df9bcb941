// Packs the structure of a level-ordered tree (modules/amr_codec/stream-format.md, "Flags").
//
// Refinement: one bit for each cell, level by level. The deepest level is left out, because all its bits are 0 and the
// number of its cells follows from the level above.
//
// Ownership: runs of equal flags.
//   1. The leaves come first, in the order of the tree. Domains are contiguous on a space-filling curve, so that runs
//      are long.
//   2. Parents are predicted. Some programs (RAMSES among them) give a parent the flag of its last child: if any parent
//      is owned, a bit says if its flag differs from that. Otherwise all bits are 0 and form a single run.
//
// The bytes of refinement and of ownership go through zstd if that makes them smaller. All loops take 64 flags at a
// time, as the bits of a word.
#include "storage/trees/structure.hpp"

#include <algorithm>

#include "storage/trees/flag_frames.hpp"

namespace sidestream {

namespace {

using namespace flag_bits;

// The first byte defines how to read the following bytes.
constexpr std::uint8_t plain = 0, framed = 1;  // framed: packed by zstd
constexpr std::uint8_t expects_last = 2;       // a parent's ownership is predicted from its last child, otherwise as 0

[[noreturn]] void damaged() { fail(Code::file, "the packed structure of a tree makes no sense; it is damaged"); }

std::uint64_t count_of(Flags flags) {
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < flags.size(); n += 8) sum += count(truths(load(flags.data() + n, flags.size() - n)));
  return sum;
}

/// Appends the flags as bits, padded to a whole byte. `parents`: number of set bits. `odd`: not 0 if a flag is neither
/// 0 nor 1.
void pack_level(Flags flags, Bytes& bits, std::uint64_t& parents, std::uint64_t& odd) {
  const std::size_t first = bits.size();
  bits.resize(first + (flags.size() + 7) / 8);
  std::byte* to = bits.data() + first;
  std::uint64_t sum = 0, all = 0;
  for (std::size_t n = 0; n < flags.size(); n += 8) {
    const std::uint64_t word = load(flags.data() + n, flags.size() - n);
    all |= word;
    sum += count(word);
    *to++ = static_cast<std::byte>(gathered(word));
  }
  parents = sum;
  odd |= all & ~ones;
}

/// Writes the byte `method`, then `bytes`, packed by zstd if that is smaller.
void finish(std::uint8_t method, BytesView bytes, Bytes& out) {
  out.assign(1, static_cast<std::byte>(method));
  constexpr std::size_t worthwhile = 32;  // a frame of fewer bytes is not smaller
  if (bytes.size() > worthwhile && append_frame(bytes, out)) {
    out.front() |= static_cast<std::byte>(framed);
  } else {
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
}

/// Unpacks the bytes behind the first one to at most `most` bytes.
BytesView unpacked(BytesView packed, std::size_t most, Bytes& scratch) {
  if ((packed.front() & static_cast<std::byte>(framed)) == std::byte{0}) return packed.subspan(1);
  scratch.resize(most);
  return BytesView(scratch).first(read_frame(packed.subspan(1), scratch));
}

using Words = std::vector<std::uint64_t>;

/// Tests whether the bits [first, first + length) of words are all ones or all zeros.
class Stretch {
 public:
  Stretch(const Words& words, std::size_t first, std::size_t length) {
    for (std::size_t at = first, end = first + length; at < end;) {
      const std::size_t here = std::min(64 - at % 64, end - at);
      const std::uint64_t mask = lowest(here) << at % 64;
      any_ |= words[at / 64] & mask;
      missing_ |= ~words[at / 64] & mask;
      at += here;
    }
  }
  [[nodiscard]] bool ones() const noexcept { return missing_ == 0; }
  [[nodiscard]] bool zeros() const noexcept { return any_ == 0; }

 private:
  std::uint64_t any_ = 0, missing_ = 0;
};

/// Writes runs of a bit for each parent: set if its flag differs from that of its last child.
class FlagDifferences {
 public:
  FlagDifferences(const TreeShape& shape, const Words& owned, RunWriter& runs)
      : owned_(owned),
        runs_(runs),
        step_(std::size_t{1} << shape.dimensions),
        child_(static_cast<std::size_t>(shape.roots)) {}
  /// Adds the parents among 64 cells; `own`: the flags of these cells.
  void add(std::uint64_t parents, std::uint64_t own) {
    const auto number = static_cast<std::size_t>(count_bits(parents));
    const Stretch children(owned_, child_, number * step_);
    std::uint64_t differences = 0;
    const bool expected = (children.zeros() && (own & parents) == 0) || (children.ones() && (~own & parents) == 0);
    for (std::size_t n = 0; n < number && !expected; ++n, parents &= parents - 1) {
      const std::size_t last = child_ + n * step_ + step_ - 1;
      const std::uint64_t mine = own >> std::countr_zero(parents);
      differences |= ((mine ^ owned_[last / 64] >> last % 64) & 1) << n;
    }
    child_ += number * step_;
    runs_.add(lowest(number), differences);
  }

 private:
  const Words& owned_;
  RunWriter& runs_;
  std::size_t step_, child_;
};

/// Writes runs of the flags of leaves. Returns true if a parent is owned.
bool put_leaves(const Words& refined, const Words& owned, std::size_t cells, RunWriter& runs) {
  std::uint64_t of_parents = 0;
  for (std::size_t n = 0; n < refined.size(); ++n) {
    runs.add(~refined[n] & lowest(cells - 64 * n), owned[n]);
    of_parents |= refined[n] & owned[n];
  }
  runs.end();
  return of_parents != 0;
}

void put_parents(const TreeShape& shape, const Words& refined, const Words& owned, bool by_last, RunWriter& runs) {
  FlagDifferences differences(shape, owned, runs);
  for (std::size_t n = 0; n < refined.size(); ++n) {
    if (refined[n] == 0) continue;
    if (by_last) {
      differences.add(refined[n], owned[n]);
    } else {
      runs.add(refined[n], 0);
    }
  }
  runs.end();
}

/// Sets the flags of leaves, a run at a time. Parents in between get any flag; unpack_parents() sets them later.
void unpack_leaves(Flags refined, RunReader& runs, std::span<std::uint8_t> owned) {
  std::size_t at = 0;
  std::uint8_t flag = 0;
  for (runs.begin(refined.size() - count_of(refined)); !runs.done(); flag ^= 1) {
    std::uint64_t left = runs.next();
    while (left > 0) {
      const std::size_t here = std::min<std::size_t>(64, refined.size() - at);
      std::uint64_t leaves = ~word_of(refined.data() + at, here) & lowest(here);
      const auto count = static_cast<std::uint64_t>(count_bits(leaves));
      std::size_t step = here;
      if (count > left) {  // stop at the first leaf behind the run
        for (std::uint64_t n = 0; n < left; ++n) leaves &= leaves - 1;
        step = static_cast<std::size_t>(std::countr_zero(leaves));
      }
      std::memset(owned.data() + at, flag, step);
      at += step;
      left -= std::min(count, left);
    }
  }
}

/// Sets the flags of parents from the last to the first, since children, which predict them, come later.
void unpack_parents(const TreeShape& shape, Flags refined, RunReader& runs, bool by_last,
                    std::span<std::uint8_t> owned) {
  const std::uint64_t parents = count_of(refined);
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(parents));
  std::size_t at = 0;
  std::uint8_t flag = 0;
  for (runs.begin(parents); !runs.done(); flag ^= 1) {
    const std::uint64_t length = runs.next();
    std::memset(flags.data() + at, flag, static_cast<std::size_t>(length));
    at += static_cast<std::size_t>(length);
  }
  const std::size_t step = std::size_t{1} << shape.dimensions;
  std::size_t number = flags.size();
  for (std::size_t first = round_up(refined.size(), 64); first > 0 && number > 0;) {
    first -= 64;
    for (std::uint64_t word = word_of(refined.data() + first, refined.size() - first); word != 0;) {
      const auto bit = static_cast<std::size_t>(63 - std::countl_zero(word));
      word ^= std::uint64_t{1} << bit;
      --number;
      const std::size_t last = static_cast<std::size_t>(shape.roots) + number * step + step - 1;
      owned[first + bit] = static_cast<std::uint8_t>(flags[number] ^ (by_last ? owned[last] : 0));
    }
  }
}

}  // namespace

std::optional<TreeShape> tree_shape(const Mesh& mesh) {
  const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get());
  if (tree == nullptr) return std::nullopt;
  return TreeShape{mesh.dimensions, tree->roots()[0] * tree->roots()[1] * tree->roots()[2]};
}

std::optional<std::vector<Index>> tree_starts(const TreeShape& shape, Flags refined) {
  const auto cells = static_cast<Index>(refined.size());
  std::vector<Index> starts{0};
  for (Index count = cells == 0 ? 0 : shape.roots; count > 0;) {
    const Index first = starts.back();
    if (count > cells - first) return std::nullopt;
    starts.push_back(first + count);
    count =
        static_cast<Index>(count_of(refined.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count))))
        << shape.dimensions;
  }
  if (starts.back() != cells) return std::nullopt;
  return starts;
}

bool pack_refined(const TreeShape& shape, Flags refined, Bytes& out) {
  Bytes bits;
  bits.reserve(refined.size() / 8 + 512);
  std::uint64_t odd = 0;
  std::size_t first = 0, count = refined.empty() ? 0 : static_cast<std::size_t>(shape.roots);
  while (count > 0) {
    if (count > refined.size() - first) return false;
    const std::size_t before = bits.size();
    std::uint64_t parents = 0;
    pack_level(refined.subspan(first, count), bits, parents, odd);
    if (odd != 0) return false;
    if (parents == 0) bits.resize(before);  // the deepest level: all its flags are 0
    first += count;
    count = static_cast<std::size_t>(parents) << shape.dimensions;
  }
  if (first != refined.size()) return false;
  finish(plain, bits, out);
  return true;
}

void unpack_refined(const TreeShape& shape, BytesView packed, std::span<std::uint8_t> refined) {
  if (packed.empty() || packed.front() > std::byte{framed}) damaged();
  Bytes scratch;
  BytesView bits = unpacked(packed, refined.size(), scratch);
  std::size_t first = 0, count_here = refined.empty() ? 0 : static_cast<std::size_t>(shape.roots);
  while (count_here > 0) {
    const std::size_t bytes = (count_here + 7) / 8;
    if (count_here > refined.size() - first) damaged();
    const std::span<std::uint8_t> flags = refined.subspan(first, count_here);
    std::uint64_t parents = 0;
    if (bits.empty()) {
      std::memset(flags.data(), 0, flags.size());
    } else {
      if (bits.size() < bytes) damaged();
      if (count_here % 8 != 0 && std::to_integer<unsigned>(bits[bytes - 1]) >> count_here % 8 != 0) damaged();
      for (std::size_t n = 0; n < bytes; ++n) {
        const std::uint64_t word = spread(std::to_integer<std::uint8_t>(bits[n]));
        parents += count(word);
        store(word, flags.data() + 8 * n, flags.size() - 8 * n);
      }
      bits = bits.subspan(bytes);
      if (parents == 0) damaged();
    }
    first += count_here;
    count_here = static_cast<std::size_t>(parents) << shape.dimensions;
  }
  if (first != refined.size() || !bits.empty()) damaged();
}

bool pack_owned(const TreeShape& shape, Flags refined, Flags owned, Bytes& out) {
  if (owned.size() != refined.size() || !tree_starts(shape, refined) || odd_bits(owned) != 0) return false;
  const Words parents = words_of(refined), own = words_of(owned);
  Bytes bytes;
  RunWriter runs(bytes);
  const bool by_last = put_leaves(parents, own, refined.size(), runs);
  put_parents(shape, parents, own, by_last, runs);
  finish(by_last ? expects_last : plain, bytes, out);
  return true;
}

void unpack_owned(const TreeShape& shape, Flags refined, BytesView packed, std::span<std::uint8_t> owned) {
  if (packed.empty() || packed.front() > std::byte{framed | expects_last} || owned.size() != refined.size()) damaged();
  if (!tree_starts(shape, refined)) damaged();
  Bytes scratch;
  RunReader runs(unpacked(packed, refined.size() + 2, scratch));
  unpack_leaves(refined, runs, owned);
  const bool by_last = (packed.front() & std::byte{expects_last}) != std::byte{0};
  unpack_parents(shape, refined, runs, by_last, owned);
  if (runs.rest() != 0) damaged();
}

}  // namespace sidestream
