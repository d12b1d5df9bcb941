// Texts that are broken into lines, to fit into the room they have.
#pragma once

#include <string>
#include <vector>

namespace sidestream::rendering {

/// Lines of text and the size of their capitals in pixels.
struct Paragraph {
  std::vector<std::string> lines;
  double size = 0;

  /// Distance of baselines, in sizes.
  static constexpr double step = 1.6;
  /// From the top of the first line's capitals to the lowest descender.
  [[nodiscard]] double height() const noexcept { return height_of(lines.size(), size); }
  [[nodiscard]] static double height_of(std::size_t lines, double size) noexcept {
    return size * (1.35 + step * (static_cast<double>(lines) - 1));
  }
};

/// Width and height in pixels, and the largest and smallest size of the text.
struct ParagraphRoom {
  double width = 0, height = 0;
  double size = 0, least = 0;
};

/// Breaks the text at spaces into lines of at most `room` pixels; longer words have a line of their own.
[[nodiscard]] std::vector<std::string> broken_at_spaces(const std::string& text, double size, double room);

/// The text as large as it fits, in as many lines as that takes. At the smallest size words that are too long are
/// broken, too; then what there is no room for is cut, and the last line ends with "...". It has a line at least.
[[nodiscard]] Paragraph fit_paragraph(const std::string& text, const ParagraphRoom& room);

}  // namespace sidestream::rendering
