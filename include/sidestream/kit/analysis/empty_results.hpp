// Warnings about empty results, given once, with the range of existing values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/task.hpp"

namespace sidestream {

/// Range of the values of one component of a variable, known even to an analysis that got no blocks because none
/// matched.
class SeenValues {
 public:
  SeenValues(std::int32_t variable, int component)
      : variable_(variable), component_(component), told_(std::make_shared<Range>()) {}
  /// Selects no block, but receives the ranges of all blocks if ranges decide which blocks are needed.
  [[nodiscard]] Selected entry() const;
  /// True if `entry` made this selection. It needs no block even where ranges are unknown.
  [[nodiscard]] static bool only_listens(const Selected& selected);
  /// Text such as "its values reach from 1 to 2". Collective.
  [[nodiscard]] std::string text(const CombineInput& input) const;
  /// Resets the range; call it before the next iteration.
  void forget() noexcept { *told_ = {}; }

 private:
  struct Listener {
    std::shared_ptr<Range> told;
    bool operator()(const BlockSummary& block) const {
      told->add(block.range);
      return false;
    }
  };

  std::int32_t variable_;
  int component_;
  std::shared_ptr<Range> told_;  ///< the range that this server received in this iteration
};

/// Bounds of a mesh as text, "it reaches from (0, 0, 0) to (1, 1, 1)". Collective. If only variables give the
/// positions, the bounds cover the blocks that arrived.
[[nodiscard]] std::string reach_text(const Mesh& mesh, const CombineInput& input);

/// Adds a remark for people who requested the results, if anybody did. Call it on the first server.
void remark(Results& results, const std::string& sentence);

/// Warns once that a result is empty.
class EmptyNotice {
 public:
  explicit EmptyNotice(std::string file) : file_(std::move(file)) {}

  /// Checks for kinds of items that are empty. Collective. `counts`: numbers of items of each kind on this server. When
  /// some kinds first have no item on any server, `why` is called on all servers with their indices, and returns the
  /// reason.
  void look(std::vector<std::int64_t> counts, const CombineInput& input,
            const std::function<std::string(const std::vector<std::size_t>& absent)>& why);

 private:
  std::string file_;
  bool told_ = false;  ///< the same on all servers
};

}  // namespace sidestream
