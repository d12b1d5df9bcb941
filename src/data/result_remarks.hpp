// Remarks about results, such as that one is empty, for people who asked for them.
#pragma once

#include <string>

namespace sidestream {

/// Implemented next to Results, where somebody may wait for them.
class ResultRemarks {
 public:
  virtual ~ResultRemarks() = default;
  /// Keeps a sentence that goes on after `delivered: iteration 7, but `.
  virtual void remark(const std::string& sentence) = 0;
  /// Returns the sentences since the last call, as one.
  [[nodiscard]] virtual std::string take_remarks() = 0;
};

}  // namespace sidestream
