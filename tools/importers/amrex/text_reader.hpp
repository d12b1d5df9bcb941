// Parser of words, numbers and boxes in AMReX's text files.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/data/box.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream::amrex {

/// Limits of a text's size and of the number of levels; more means damage.
inline constexpr std::uint64_t most_text = std::uint64_t{1} << 30;
inline constexpr std::int64_t most_levels = 64;

/// Reads a text of at most `most` bytes. Throws Error(file) if it cannot be read or is longer.
[[nodiscard]] std::string read_text(const std::string& path, std::uint64_t most);

/// Scans a text. All functions throw Error(file) with the file's name and the line if they find something else.
class TextReader {
 public:
  TextReader(const std::string& text, std::string path) : text_(text), path_(std::move(path)) {}

  /// The rest of the line, trimmed.
  [[nodiscard]] std::string line(const char* what);
  /// The next word, after blanks.
  [[nodiscard]] std::string word(const char* what);
  [[nodiscard]] std::int64_t whole(const char* what, std::int64_t least, std::int64_t most);
  [[nodiscard]] double real(const char* what);
  /// `dimensions` numbers: (1,2,3).
  [[nodiscard]] Index3 indices(const char* what, int dimensions);
  /// ((lo) (hi) (centring)) as cells from lo to hi, which the text includes; unused axes have one cell. Refuses values
  /// that are not in cells.
  [[nodiscard]] Box box(const char* what, int dimensions);
  /// The same for values at nodes of some axes, as `centering` tells: the box is their points.
  [[nodiscard]] Box points(const char* what, int dimensions, Centering& centering);
  void expect(char c, const char* what);
  /// True if the next character that is not blank is `c`.
  [[nodiscard]] bool next_is(char c);
  [[nodiscard]] bool at_end();
  /// Position in the text.
  [[nodiscard]] std::size_t offset() const noexcept { return at_; }
  [[noreturn]] void complain(const char* what, const std::string& sentence) const;

 private:
  void pass_blanks();

  const std::string& text_;
  std::string path_;
  std::size_t at_ = 0;
};

}  // namespace sidestream::amrex
