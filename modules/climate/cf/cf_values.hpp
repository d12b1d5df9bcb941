// Values of one server's blocks for the arrays of a CF file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "climate/cf/cf_cells.hpp"
#include "climate/cf/cf_layout.hpp"
#include "sidestream/extend/task.hpp"
#include "sidestream/kit/storage/codecs/stored_form.hpp"

namespace sidestream {

/// The blocks of all meshes of lists, concatenated by id.
class CfLists {
 public:
  struct Start {
    Index points = 0, cells = 0;
  };
  CfLists() = default;
  /// `blocks` may have any order.
  explicit CfLists(std::vector<CfBlock> blocks);
  [[nodiscard]] const std::vector<CfBlock>& blocks() const noexcept { return blocks_; }
  /// The total lengths of a mesh's lists, and the extremes of dimensions and corners.
  [[nodiscard]] CfBlock total(std::int32_t mesh) const;
  /// The position of a block in these lists.
  [[nodiscard]] Start start(std::int32_t mesh, std::int64_t block) const;
  [[nodiscard]] Index length(const CfDimension& dimension) const;

 private:
  std::vector<CfBlock> blocks_;
  std::map<std::int32_t, CfBlock> totals_;
  std::map<std::pair<std::int32_t, std::int64_t>, Start> starts_;
};

/// The shape of an iteration, the same on all servers.
struct CfShape {
  CfLists lists{};
  std::vector<Index> counts{};  ///< by array: number of points that blocks fill; -1: not published
};

/// This server's blocks of meshes of lists. Throws as scan_cells does.
[[nodiscard]] std::vector<CfBlock> cf_blocks(const LocalInput& input, const CfLayout& layout);

// An array as a whole.

[[nodiscard]] Box cf_points(const CfArray& array, const Metadata& metadata, const CfLists& lists);
[[nodiscard]] Index cf_values_of_point(const CfArray& array, const Metadata& metadata, const CfLists& lists);
[[nodiscard]] Type cf_type(const CfArray& array, const Metadata& metadata);  ///< type as published
[[nodiscard]] Order cf_order(const CfArray& array, const Metadata& metadata);

// An array in this server's blocks.

/// The number of points in this server's blocks; -1 without a block of the variable.
[[nodiscard]] Index cf_count(const CfArray& array, const LocalInput& input);

/// Receives values of a part of the array, contiguous in its order.
using CfSink = std::function<void(BytesView values, const Box& part)>;
/// Passes the values to `sink`. `form`: the variable's.
void cf_put(const CfArray& array, const LocalInput& input, const CfLists& lists, const StoredForm& form,
            const CfSink& sink);

/// A contiguous array in a file.
struct CfPlace {
  Box whole;
  Order order = Order::column;
  std::uint64_t offset = 0, point_bytes = 0;
};
/// Calls `run` for each contiguous run of the part in the array: its first byte there, and its values.
using CfRun = std::function<void(std::uint64_t at, BytesView values)>;
void for_each_run(const CfPlace& place, BytesView values, const Box& part, const CfRun& run);
/// Writes a part of a contiguous array, in as few pieces as possible. `path`: for messages. Throws Error(file).
void write_part(int descriptor, const std::string& path, const CfPlace& place, BytesView values, const Box& part);

}  // namespace sidestream
