// Codes values of trees: chooses a method, codes by it, checks the result.
//
// Encoding: a chunk of equal values is `constant`. Otherwise samples give candidates (coding_choice.cpp); the chunk is
// coded by each candidate, and the smallest stream is kept. If methods that only compress came close, they are tried
// again at a higher level of zstd. Quiet values have one candidate, and a low level. A stream that is not smaller than
// the values becomes `raw`.
//
// Decoding: the head names the method and what it needs. All of that is checked against the chunk before any kernel
// runs. The checksum of the decoded values comes last; it also finds values of parents or companions that differ from
// those of the encoder.
//
// Both run in the default floating-point environment, whatever the program has set. So predictions round in the same
// way.
#include "amr_codec/values/value_coder.hpp"

#include <algorithm>

#include "amr_codec/values/coding_choice.hpp"
#include "amr_codec/values/packer.hpp"
#include "amr_codec/values/parent_xor.hpp"
#include "amr_codec/values/stream_parts.hpp"
#include "sidestream/kit/base/checksum.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/float_environment.hpp"

namespace sidestream {

using namespace trees;

namespace {

/// Level 15 of zstd is within half a per cent of level 19 on quiet data, in a third of its time. Level 19 pays for
/// other repetitive values, for example if there are few distinct ones.
constexpr int usual_zstd_level = 15, best_zstd_level = 19;
constexpr std::size_t quiet = 256;  ///< values are quiet if they shrink by this factor

bool all_the_same(BytesView values, std::size_t size) {
  // Each element equals the one before it.
  return values.size() >= size &&
         std::equal(values.begin() + static_cast<std::ptrdiff_t>(size), values.end(), values.begin());
}

/// True for methods that only compress, which only a higher level improves.
bool unpredicted(TreeMethod method) noexcept { return method == TreeMethod::zstd || method == TreeMethod::shuffled; }

StreamHead head_of(TreeMethod method, const CodingChoice& choice, const Relations& relations) {
  StreamHead head;
  head.method = method;
  head.parents = method >= TreeMethod::parent_xor;
  if (method >= TreeMethod::predicted) {
    head.beside = needs_beside(choice.plan);
    head.companions = companions_of(choice.plan, relations);
  }
  return head;
}

Bytes encode_by(TreeMethod method, BytesView values, const TreeChunk& chunk, const Relations& relations,
                const CodingChoice& choice, const TreeCoding& coding, Packer& packer) {
  Bytes out;
  out.reserve(values.size() + values.size() / 16 + 64);
  put_head(head_of(method, choice, relations), out);
  const int usual = choice.quiet_level > 0 ? choice.quiet_level : usual_zstd_level;
  const int level = coding.zstd_level > 0 ? coding.zstd_level : usual;
  switch (method) {
    case TreeMethod::raw:
      out.insert(out.end(), values.begin(), values.end());
      break;
    case TreeMethod::constant:
      out.insert(out.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size_of(chunk.type)));
      break;
    case TreeMethod::zstd:
      packer.pack({as_bytes(values), values.size()}, level, out);
      break;
    case TreeMethod::shuffled: {
      Bytes shuffled;
      shuffle(values, size_of(chunk.type), shuffled);
      packer.pack({as_bytes(shuffled), shuffled.size()}, level, out);
      break;
    }
    case TreeMethod::parent_xor:
      encode_parent_xor(values, chunk, coding.header_bits, out);
      break;
    case TreeMethod::predicted:
      encode_predicted(values, chunk, relations, choice.plan, choice.slopes, packer, out);
      break;
    case TreeMethod::predicted_zstd:
      encode_predicted_zstd(values, chunk, relations, choice.plan, choice.slopes, level, packer, out);
      break;
  }
  put_checksum(values, out);
  return out;
}

/// Compares the needs that a stream declares with its method and the chunk.
void check_needs(const StreamHead& head, const TreeChunk& chunk, const Relations& relations) {
  const bool predicted = head.method >= TreeMethod::predicted;
  const bool words = head.method == TreeMethod::parent_xor;
  const bool roots = chunk.groups.parent.empty();
  if ((head.method >= TreeMethod::parent_xor) != head.parents ||
      (!predicted && (head.beside || head.companions != 0)) || (predicted && !predictable(chunk.type)) ||
      (words && !in_words(chunk.type)) || (head.parents && roots) ||
      (std::uint64_t{head.companions} >> relations.companions) != 0) {
    fail_damaged("needs what its method does not");
  }
  if (head.parents && chunk.parents.empty())
    fail(Code::usage, "a chunk without its parents, from which its values are decoded");
  if (head.beside && chunk.groups.beside.empty()) {
    fail(Code::usage, "a chunk without what is beside its parents, from which its values are decoded");
  }
}

void decode_constant(BytesView stream, std::size_t size, std::span<std::byte> values) {
  if (stream.size() != size) fail_damaged("is not of one value");
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = stream[n % size];
}

void decode_raw(BytesView stream, std::span<std::byte> values) {
  if (stream.size() != values.size()) fail_damaged("has not as many bytes as its values");
  std::copy(stream.begin(), stream.end(), values.begin());
}

void decode_by(const StreamHead& head, BytesView stream, const TreeChunk& chunk, const Relations& relations,
               std::span<std::byte> values) {
  const std::span<std::uint8_t> bytes(reinterpret_cast<std::uint8_t*>(values.data()), values.size());
  switch (head.method) {
    case TreeMethod::raw:
      decode_raw(stream, values);
      break;
    case TreeMethod::constant:
      decode_constant(stream, size_of(chunk.type), values);
      break;
    case TreeMethod::zstd:
      unpack(stream, bytes);
      break;
    case TreeMethod::shuffled: {
      Bytes shuffled(values.size());
      unpack(stream, {reinterpret_cast<std::uint8_t*>(shuffled.data()), shuffled.size()});
      unshuffle(shuffled, size_of(chunk.type), values);
      break;
    }
    case TreeMethod::parent_xor:
      decode_parent_xor(stream, chunk, values);
      break;
    case TreeMethod::predicted:
      decode_predicted(stream, head, chunk, relations, values);
      break;
    case TreeMethod::predicted_zstd:
      decode_predicted_zstd(stream, head, chunk, relations, values);
      break;
  }
}

}  // namespace

std::string_view name_of(TreeMethod method) noexcept {
  constexpr std::string_view names[] = {"raw",        "constant",  "zstd",          "shuffled",
                                        "parent-xor", "predicted", "predicted-zstd"};
  return names[static_cast<std::size_t>(method)];
}

Bytes encode_tree_values(BytesView values, const TreeChunk& chunk, const Relations& relations,
                         const TreeCoding& coding) {
  check_chunk(values.size(), chunk, relations);
  if (coding.header_bits < 1 || coding.header_bits > 6) {
    fail(Code::usage, "{} bits that count leading zeros, expected 1 to 6", coding.header_bits);
  }
  const FloatEnvironment as_decoders;
  Packer packer;
  CodingChoice choice;
  if (values.empty()) return encode_by(TreeMethod::raw, values, chunk, relations, choice, coding, packer);
  if (!coding.method && all_the_same(values, size_of(chunk.type))) {
    return encode_by(TreeMethod::constant, values, chunk, relations, choice, coding, packer);
  }
  choice = choose_coding(values, chunk, relations, coding, packer);
  Bytes best;
  std::vector<std::size_t> sizes;
  const auto make = [&](TreeMethod method, const TreeCoding& how) {
    Bytes made = encode_by(method, values, chunk, relations, choice, how, packer);
    sizes.push_back(made.size());
    if (best.empty() || made.size() < best.size()) best = std::move(made);
  };
  for (const Candidate& one : choice.candidates) make(one.method, coding);
  if (surprises(choice, static_cast<double>(best.size()) / static_cast<double>(values.size()))) {
    choice = choose_coding(values, chunk, relations, coding, packer, true);
    sizes.clear();
    for (const Candidate& one : choice.candidates) make(one.method, coding);
  }
  // At the higher level another method may be the best.
  const std::size_t least = best.size();
  TreeCoding slowly = coding;
  slowly.zstd_level = best_zstd_level;
  const bool worth_it =
      !coding.method && choice.quiet_level == 0 && coding.zstd_level == 0 && least * quiet > values.size();
  for (std::size_t n = 0; worth_it && n < choice.candidates.size(); ++n) {
    const TreeMethod method = choice.candidates[n].method;
    if (unpredicted(method) && sizes[n] <= least + least / 8) make(method, slowly);
  }
  if (coding.method || best.size() < values.size()) return best;
  return encode_by(TreeMethod::raw, values, chunk, relations, choice, coding, packer);
}

TreeMethod tree_stream_method(BytesView stream) { return take_head(stream).method; }

TreeStreamNeeds tree_stream_needs(BytesView stream) {
  const StreamHead head = take_head(stream);
  TreeStreamNeeds needs{head.parents, head.beside, {}};
  for (int n = 0; n < 32; ++n) {
    if ((head.companions >> n & 1) != 0) needs.companions.push_back(n);
  }
  return needs;
}

void decode_tree_values(BytesView stream, const TreeChunk& chunk, const Relations& relations,
                        std::span<std::byte> values) {
  check_chunk(values.size(), chunk, relations);
  const FloatEnvironment as_encoders;
  const StreamHead head = take_head(stream);
  check_needs(head, chunk, relations);
  if (stream.size() < checksum_size) fail_damaged("ends early");
  const BytesView sum = stream.last(checksum_size);
  decode_by(head, stream.first(stream.size() - checksum_size), chunk, relations, values);
  if (checksum_of(values) != load_word(as_bytes(sum))) {
    fail(Code::file,
         "the values of a tree's stream have not the checksum they were written with; it is damaged, or was decoded "
         "beside other values than it was made with");
  }
}

namespace {

class ValuesOfTrees final : public TreeCodec {
 public:
  [[nodiscard]] std::string name() const override { return "tree"; }
  [[nodiscard]] Bytes encode_cells(BytesView values, const TreeChunk& chunk, const Relations& relations,
                                   bool hurries) const override {
    TreeCoding how;
    if (hurries) how = {TreeMethod::zstd, how.header_bits, 1};
    return encode_tree_values(values, chunk, relations, how);
  }
  [[nodiscard]] TreeStreamNeeds needs(BytesView stream) const override { return tree_stream_needs(stream); }
  void decode_cells(BytesView stream, const TreeChunk& chunk, const Relations& relations,
                    std::span<std::byte> values) const override {
    decode_tree_values(stream, chunk, relations, values);
  }
};

}  // namespace

CodecKind tree_codec_kind() {
  CodecKind kind;
  kind.name = "tree";
  kind.text = "Predicts values in cells of octrees from their parents, their neighbours and declared relations.";
  kind.create = [](const std::string&) { return std::make_shared<ValuesOfTrees>(); };
  return kind;
}

}  // namespace sidestream
