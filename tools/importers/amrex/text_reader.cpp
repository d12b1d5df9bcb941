#include "importers/amrex/text_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"
#include "storage/database/segment.hpp"

namespace sidestream::amrex {

namespace {

constexpr std::int64_t most_index = std::int64_t{1} << 40;

}  // namespace

std::string read_text(const std::string& path, std::uint64_t most) {
  const database::PlacedFile file(path);
  const std::uint64_t size = file.size();
  if (size > most) fail(Code::file, "'{}' has {} bytes, far more than such a text has", path, size);
  std::string text(size, '\0');
  file.read(0, std::as_writable_bytes(std::span(text.data(), text.size())));
  return text;
}

void TextReader::complain(const char* what, const std::string& sentence) const {
  const auto line =
      std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n') + 1;
  fail(Code::file, "'{}', line {} ({}): {}; the file is damaged, or none of a plotfile of AMReX", path_, line, what,
       sentence);
}

void TextReader::pass_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

bool TextReader::at_end() {
  pass_blanks();
  return at_ >= text_.size();
}

std::string TextReader::line(const char* what) {
  if (at_ >= text_.size()) complain(what, "the file has ended");
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string found = text_.substr(at_, end - at_);
  at_ = std::min(end + 1, text_.size());
  while (!found.empty() && is_blank(found.back())) found.pop_back();
  const auto first = std::find_if_not(found.begin(), found.end(), is_blank);
  found.erase(found.begin(), first);
  return found;
}

std::string TextReader::word(const char* what) {
  pass_blanks();
  if (at_ >= text_.size()) complain(what, "the file has ended");
  const std::size_t begin = at_;
  while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::int64_t TextReader::whole(const char* what, std::int64_t least, std::int64_t most) {
  pass_blanks();
  std::int64_t value = 0;
  const char* const begin = text_.data() + at_;
  const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (problem != std::errc()) complain(what, fmt::format("found '{}', expected a whole number", text_.substr(at_, 20)));
  at_ += static_cast<std::size_t>(end - begin);
  if (value < least || value > most) complain(what, fmt::format("found {}, expected {} to {}", value, least, most));
  return value;
}

double TextReader::real(const char* what) {
  const std::string text = word(what);
  const std::optional<double> value = real_of(text);
  if (!value || !std::isfinite(*value)) complain(what, fmt::format("found '{}', expected a number", text));
  return *value;
}

void TextReader::expect(char c, const char* what) {
  pass_blanks();
  if (at_ >= text_.size() || text_[at_] != c) {
    complain(what, fmt::format("found '{}', expected '{}'", at_ < text_.size() ? text_.substr(at_, 10) : "the end", c));
  }
  ++at_;
}

bool TextReader::next_is(char c) {
  pass_blanks();
  return at_ < text_.size() && text_[at_] == c;
}

Index3 TextReader::indices(const char* what, int dimensions) {
  Index3 found{0, 0, 0};
  expect('(', what);
  for (int a = 0; a < dimensions; ++a) {
    if (a > 0) expect(',', what);
    found[static_cast<std::size_t>(a)] = whole(what, -most_index, most_index);
  }
  expect(')', what);
  return found;
}

Box TextReader::points(const char* what, int dimensions, Centering& centering) {
  Box found;
  expect('(', what);
  found.lo = indices(what, dimensions);
  found.hi = indices(what, dimensions);
  const Index3 nodes = indices(what, dimensions);
  expect(')', what);
  unsigned bits = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    ++found.hi[a];
    if (nodes[a] != 0 && nodes[a] != 1)
      complain(what, fmt::format("found {}, expected 0 in cells or 1 at nodes", nodes[a]));
    bits |= static_cast<unsigned>(nodes[a]) << a;
  }
  centering = static_cast<Centering>(bits);
  if (found.empty()) complain(what, "a box without cells");
  return found;
}

Box TextReader::box(const char* what, int dimensions) {
  Centering centering{};
  const Box found = points(what, dimensions, centering);
  if (centering != Centering::cell) complain(what, "values at nodes or faces, expected values in cells");
  return found;
}

}  // namespace sidestream::amrex
