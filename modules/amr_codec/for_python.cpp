// The decoder as a function in C, which the package for Python calls (bindings/python/sidestream/trees/compiled.py).
//
// Its name has a number: a package only calls a decoder that takes its arguments. Relations come as two lists.
//   numbers: type, dimensions
//            1 if there is a mean, then its weight and the terms of its offset; otherwise 0
//            1 if there is a face, then axis, high, opposite, the count and list of others, the count of lengths;
//            otherwise 0
//            the terms of the closure
//   factors: factor; scale of the mean; the coefficient of each term, and the lengths of the face, in the same order
// Terms are their count, and for each term the count and list of factors, and the count and list of divisors.
#include <span>
#include <string>

#include "amr_codec/values/value_coder.hpp"
#include "sidestream/kit/base/c_status.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// Takes relations out of the two lists.
class Taking {
 public:
  Taking(std::span<const std::int64_t> numbers, std::span<const double> factors)
      : numbers_(numbers), factors_(factors) {}

  int number() {
    if (numbers_.empty()) fail(Code::usage, "a list of relations ends early");
    const auto first = static_cast<int>(numbers_.front());
    numbers_ = numbers_.subspan(1);
    return first;
  }
  double factor() {
    if (factors_.empty()) fail(Code::usage, "a list of factors of relations ends early");
    const double first = factors_.front();
    factors_ = factors_.subspan(1);
    return first;
  }
  std::vector<int> several() {
    std::vector<int> all;
    for (int left = number(); left > 0; --left) all.push_back(number());
    return all;
  }
  std::vector<RelationTerm> terms() {
    std::vector<RelationTerm> all;
    for (int left = number(); left > 0; --left) {
      RelationTerm& term = all.emplace_back();
      term.coefficient = factor();
      term.times = several();
      term.over = several();
    }
    return all;
  }
  Relations relations() {
    Relations made;
    made.factor = factor();
    if (number() != 0) {
      MeanRelation mean;
      mean.scale = factor();
      mean.weight = number();
      mean.offset = terms();
      made.mean = std::move(mean);
    }
    if (number() != 0) {
      FaceRelation face;
      face.axis = number();
      face.high = number() != 0;
      face.opposite = number();
      face.others = several();
      for (int left = number(); left > 0; --left) face.lengths.push_back(factor());
      made.face = std::move(face);
    }
    made.closure = terms();
    return made;
  }

 private:
  std::span<const std::int64_t> numbers_;
  std::span<const double> factors_;
};

Type type_at(std::int64_t number) {
  if (number < 0 || number >= type_count) fail(Code::usage, "type {} of {}", number, type_count);
  return static_cast<Type>(number);
}

}  // namespace

}  // namespace sidestream

extern "C" {

/// Bytes of values in the cells of a chunk, and in the cells of the level above. `type`: as sidestream::Type.
struct SidestreamTreeArray {
  std::int64_t type;
  const std::byte* values;
  std::uint64_t values_size;
  const std::byte* parents;
  std::uint64_t parents_size;
};

/// A chunk without its values, known to both encoder and decoder.
struct SidestreamTreeChunk {
  const std::int64_t* parent;  ///< of each group of siblings
  std::uint64_t parent_count;
  const std::int64_t* beside;
  std::uint64_t beside_count;
  const std::int64_t* numbers;  ///< type, dimensions and relations
  std::uint64_t number_count;
  const double* factors;
  std::uint64_t factor_count;
  const SidestreamTreeArray* arrays;  ///< the variable itself (only `parents` is used), then the companions
  std::uint64_t array_count;
};

/// Decodes a stream into `values`. Returns 0, or an error code, and then writes a sentence to `message`.
__attribute__((visibility("default"))) int sidestream_amr_codec_decode_1(const std::byte* stream, std::uint64_t size,
                                                                         const SidestreamTreeChunk* of,
                                                                         std::byte* values, std::uint64_t values_size,
                                                                         char* message, std::uint64_t message_size) {
  using namespace sidestream;
  const auto decode = [&] {
    Taking taking({of->numbers, of->number_count}, {of->factors, of->factor_count});
    TreeChunk chunk;
    chunk.type = type_at(taking.number());
    chunk.groups = {taking.number(), {of->parent, of->parent_count}, {of->beside, of->beside_count}};
    Relations relations = taking.relations();
    std::vector<Companion> companions;
    for (std::uint64_t n = 0; n < of->array_count; ++n) {
      const SidestreamTreeArray& one = of->arrays[n];
      companions.push_back({type_at(one.type), {one.values, one.values_size}, {one.parents, one.parents_size}});
    }
    if (companions.empty()) fail(Code::usage, "a chunk without the variable itself");
    chunk.parents = companions.front().parents;
    chunk.companions = std::span(companions).subspan(1);
    relations.companions = static_cast<int>(chunk.companions.size());
    decode_tree_values({stream, size}, chunk, relations, {values, values_size});
  };
  return c_status_of(decode, message, message_size);
}

}  // extern "C"
