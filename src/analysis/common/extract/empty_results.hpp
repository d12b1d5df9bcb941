// What users are told of a result that has nothing in it: once, and with what was seen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/task.hpp"

namespace sidestream {

/// The values of one component of a variable: as far as an analysis can tell that was given none of its blocks, because
/// none has what it looks for.
class SeenValues {
 public:
  SeenValues(std::int32_t variable, int component)
      : variable_(variable), component_(component), told_(std::make_shared<Range>()) {}
  /// For the selection: an entry that needs no block and is told the ranges of all, where blocks are chosen by ranges.
  [[nodiscard]] Selected entry() const;
  /// Whether an entry is such a one: where no ranges are known it still needs nothing.
  [[nodiscard]] static bool only_listens(const Selected& selected);
  /// Collective: "its values reach from 1 to 2".
  [[nodiscard]] std::string text(const CombineInput& input) const;
  /// Before the next iteration.
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
  std::shared_ptr<Range> told_;  ///< what this server was told, in this iteration
};

/// Collective: where a mesh is, "it reaches from (0, 0, 0) to (1, 1, 1)"; of meshes that say it in variables, as far as
/// their blocks came.
[[nodiscard]] std::string reach_text(const Mesh& mesh, const CombineInput& input);

/// Says once that a result is empty.
class EmptyNotice {
 public:
  explicit EmptyNotice(std::string file) : file_(std::move(file)) {}

  /// Collective. `counts`: how many this server has of each of some things. The first time that no server has any of
  /// some of them, `why` is asked for a sentence, on all servers, with the numbers of these.
  void look(std::vector<std::int64_t> counts, const CombineInput& input,
            const std::function<std::string(const std::vector<std::size_t>& absent)>& why);

 private:
  std::string file_;
  bool told_ = false;  ///< the same on all servers
};

}  // namespace sidestream
