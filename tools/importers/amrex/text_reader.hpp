// Words, numbers and boxes out of the texts of AMReX.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream::amrex {

/// What a text, and a list of levels, may have; more is damage.
inline constexpr std::uint64_t most_text = std::uint64_t{1} << 30;
inline constexpr std::int64_t most_levels = 64;

/// A text of at most `most` bytes. Throws Error(file) where it cannot be read or is longer.
[[nodiscard]] std::string read_text(const std::string& path, std::uint64_t most);

/// Goes through a text. Everything throws Error(file) with the file's name and the line, where it finds something else.
class TextReader {
 public:
  TextReader(const std::string& text, std::string path) : text_(text), path_(std::move(path)) {}

  /// The rest of the line, without blanks at its ends.
  [[nodiscard]] std::string line(const char* what);
  /// The next characters but blanks up to a blank.
  [[nodiscard]] std::string word(const char* what);
  [[nodiscard]] std::int64_t whole(const char* what, std::int64_t least, std::int64_t most);
  [[nodiscard]] double real(const char* what);
  /// `dimensions` numbers, (1,2,3).
  [[nodiscard]] Index3 indices(const char* what, int dimensions);
  /// ((lo) (hi) (centring)), as cells from lo to hi, both of them included in the text; axes that are not used have one
  /// cell. Refuses values that are not in cells.
  [[nodiscard]] Box box(const char* what, int dimensions);
  /// The same of values at nodes of some axes, which `centering` tells: the box is that of their points.
  [[nodiscard]] Box points(const char* what, int dimensions, Centering& centering);
  void expect(char c, const char* what);
  /// Whether the next character but blanks is this one.
  [[nodiscard]] bool next_is(char c);
  [[nodiscard]] bool at_end();
  /// What is left of the text.
  [[nodiscard]] std::size_t offset() const noexcept { return at_; }
  [[noreturn]] void complain(const char* what, const std::string& sentence) const;

 private:
  void pass_blanks();

  const std::string& text_;
  std::string path_;
  std::size_t at_ = 0;
};

}  // namespace sidestream::amrex
