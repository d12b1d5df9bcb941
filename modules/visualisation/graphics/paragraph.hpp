// Room for texts in a picture: lines into which a text is broken, and rectangles that are taken.
#pragma once

#include <span>
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
struct ParagraphLimits {
  double width = 0, height = 0;
  double size = 0, least = 0;
};

/// Breaks the text at spaces into lines of at most `available` pixels; longer words have a line of their own.
[[nodiscard]] std::vector<std::string> broken_at_spaces(const std::string& text, double size, double available);

/// The text as large as it fits, in as many lines as that takes. At the smallest size words that are too long are
/// broken, too; then what there is no room for is cut, and the last line ends with "...". It has a line at least.
[[nodiscard]] Paragraph fit_paragraph(const std::string& text, const ParagraphLimits& limits);

/// A rectangle in pixels from the top left of the picture.
struct TextBox {
  double left = 0, top = 0, right = 0, bottom = 0;

  [[nodiscard]] bool is_empty() const noexcept { return !(left < right && top < bottom); }
  /// True if both have a point in common, or are nearer to each other than `gap`. Empty boxes overlap nothing.
  [[nodiscard]] bool overlaps(const TextBox& other, double gap = 0) const noexcept {
    return !is_empty() && !other.is_empty() && left < other.right + gap && other.left < right + gap &&
           top < other.bottom + gap && other.top < bottom + gap;
  }
  [[nodiscard]] bool is_within(int width, int height) const noexcept {
    return is_empty() || (left >= 0 && top >= 0 && right <= width && bottom <= height);
  }
};

/// The boxes of a picture's texts. Whoever draws a picture passes it on, to find free places and to check the result.
class TextBoxes {
 public:
  void add(const TextBox& box) {
    if (!box.is_empty()) boxes_.push_back(box);
  }
  /// True if no box overlaps `box` or is nearer than `gap`.
  [[nodiscard]] bool are_clear_of(const TextBox& box, double gap) const noexcept {
    for (const TextBox& taken : boxes_) {
      if (taken.overlaps(box, gap)) return false;
    }
    return true;
  }
  [[nodiscard]] std::span<const TextBox> all() const noexcept { return boxes_; }

 private:
  std::vector<TextBox> boxes_;
};

}  // namespace sidestream::rendering
