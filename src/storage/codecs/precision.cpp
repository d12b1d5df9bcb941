#include "sidestream/kit/storage/codecs/precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "storage/codecs/reduced_reals.hpp"
#include "storage/codecs/zfp_array.hpp"

namespace sidestream {

namespace {

using Kind = Precision::Kind;

struct Word {
  const char* name;
  const char* argument;  ///< name of the argument after the colon; empty: none
  Kind kind;
  int bytes;  ///< bytes of each quantised number
  const char* text;
};

constexpr Word all_words[] = {
    {"bit-round", "BITS", Kind::bit_round, 0,
     "keeps so many bits of the fraction, rounded to nearest even: wrong by at most |x| / 2^(BITS + 1)"},
    {"round", "BOUND", Kind::round, 0, "rounds to multiples of a power of two: wrong by at most BOUND"},
    {"single", "", Kind::single, 0, "float32 instead of float64"},
    {"half", "", Kind::half, 0, "16-bit reals (IEEE binary16): wrong by at most |x| / 2048 or 2^-25"},
    {"quantise-1", "", Kind::quantise, 1, "whole numbers of 1 byte: wrong by at most 1/508 of the range"},
    {"quantise-2", "", Kind::quantise, 2, "of 2 bytes: 1/131068 of the range"},
    {"quantise-4", "", Kind::quantise, 4, "of 4 bytes: 1/8589934588 of the range"},
    {"zfp", "BOUND", Kind::zfp, 0, "packs with the library zfp: wrong by at most BOUND"},
    {"bounded", "BOUND", Kind::bounded, 0, "packs what differs from a prediction: wrong by at most BOUND"},
};

std::string written(const Word& word) {
  return fmt::format("{}{}{}", word.name, *word.argument != '\0' ? ":" : "", word.argument);
}

const Word& word_named(const std::string& text, const std::string& name) {
  for (const Word& word : all_words) {
    if (name == word.name) return word;
  }
  std::vector<std::string> names;
  for (const Word& word : all_words) names.emplace_back(word.name);
  fail(Code::configuration, "found the precision '{}', expected one of {}; {}", text, listed(precision_words()),
       suggestion(name, names, "choose one"));
}

/// Number of bits of the fraction that `bit-round:` keeps. Refuses all bits, which would change nothing.
int kept_bits(const std::string& text, const std::string& argument, Type type) {
  const int most = (type == Type::float32 ? fraction_bits_of<float> : fraction_bits_of<double>)-1;
  int bits = 0;
  const char* const end = argument.data() + argument.size();
  const auto [stop, error] = std::from_chars(argument.data(), end, bits);
  if (error != std::errc() || stop != end || bits < 1 || bits > most) {
    fail(Code::configuration,
         "found '{}', expected the number of bits of the fraction that are kept behind the colon, from 1 to {} for {}, "
         "as in 'bit-round:10'; write such a number",
         text, most, name_of(type));
  }
  return bits;
}

double bound_of(const std::string& text, const std::string& name, const std::string& argument) {
  double bound = 0;
  const char* const end = argument.data() + argument.size();
  const auto [stop, error] = std::from_chars(argument.data(), end, bound);
  if (error != std::errc() || stop != end || !std::isfinite(bound) || bound <= 0) {
    fail(Code::configuration,
         "found '{}', expected the largest error that is allowed behind the colon, a number above 0, as in '{}:1e-3'; "
         "write such a number",
         text, name);
  }
  return bound;
}

}  // namespace

std::vector<std::string> precision_words() {
  std::vector<std::string> words;
  for (const Word& word : all_words) words.push_back(written(word));
  return words;
}

std::string precision_manual(const std::vector<Kind>& kinds) {
  std::string text;
  for (const Word& word : all_words) {
    if (std::find(kinds.begin(), kinds.end(), word.kind) == kinds.end()) continue;
    text += fmt::format("{}`{}`: {}", text.empty() ? "" : "; ", written(word), word.text);
  }
  return text + ".";
}

Precision precision_named(const std::string& text, Type type) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string argument = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  const Word& word = word_named(text, name);
  const bool takes = *word.argument != '\0';
  if (takes != !argument.empty() || (!takes && colon != std::string::npos)) {
    fail(Code::configuration, "found the precision '{}', expected '{}'; correct it", text, written(word));
  }
  if (type != Type::float32 && type != Type::float64) {
    fail(Code::configuration, "found the precision '{}' for values of type {}, expected float32 or float64; remove it",
         text, name_of(type));
  }
  if (word.kind == Kind::single && type == Type::float32) {
    fail(Code::configuration, "found the precision 'single' for values of type float32, which are single; remove it");
  }
  if (word.kind == Kind::zfp && !has_zfp()) {
    fail(Code::configuration, "found the precision '{}', but this build of Sidestream has no zfp; choose another one",
         text);
  }
  Precision precision{word.kind, word.bytes, 0, text};
  if (word.kind == Kind::bit_round) precision.bits = kept_bits(text, argument, type);
  if (word.kind == Kind::round || word.kind == Kind::zfp) precision.bound = bound_of(text, name, argument);
  return precision;
}

}  // namespace sidestream
