// Rectangles that are taken by text, so that nothing else is written there.
#pragma once

#include <span>
#include <vector>

namespace sidestream::rendering {

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
