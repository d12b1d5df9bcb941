// A Zarr store, version 3, that grows by an iteration at a time.
//
// Each array of values has a file (a shard) per iteration. The root's `zarr.json` gives the number of iterations of all
// arrays at once (consolidated metadata). It is replaced when all files of an iteration have their names, so that
// readers of the store see whole iterations only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "climate/cf/cf_output.hpp"
#include "climate/cf/zarr_array.hpp"

namespace sidestream {

/// Writes the store, on the first server.
class ZarrStore {
 public:
  /// `path`: the store's folder.
  ZarrStore(std::shared_ptr<const OutputDirectory> directory, std::string path, const CfLayout& layout,
            const ZarrCodecs& codecs, const Metadata& metadata, const std::string& time_units);

  /// The arrays of the layout, and then others.
  [[nodiscard]] const std::vector<ZarrArray>& arrays() const noexcept { return arrays_; }

  /// Makes the files of the next iteration, without their values. Returns the target of each array.
  [[nodiscard]] std::vector<CfTarget> make(const Iteration& iteration, const Metadata& metadata, const CfShape& shape,
                                           PendingFiles& pending);
  /// For `index` of PendingFiles::commit: makes that iteration visible.
  void commit(PendingFiles& pending);
  /// Takes that back, if something failed afterwards.
  void drop() noexcept;

 private:
  struct Entry {
    Iteration iteration{};
    std::array<double, 2> window{};  ///< of statistics over time
  };
  void begin();
  [[nodiscard]] bool take_over();
  void write_axes() const;
  void describe_arrays() const;
  [[nodiscard]] std::string describe(std::size_t iterations) const;
  [[nodiscard]] std::string file_of(const std::string& array, const std::string& key) const;
  [[nodiscard]] std::string shard_of(const std::string& array, std::size_t dimensions) const;
  [[nodiscard]] std::size_t files_of_times() const;
  [[nodiscard]] std::string file_of_times(std::size_t array, std::size_t n) const;

  std::shared_ptr<const OutputDirectory> directory_;
  std::string path_;
  CfLayout layout_;
  Attributes attributes_;
  std::vector<ZarrArray> arrays_;     ///< the layout's arrays come first
  std::vector<Entry> iterations_{};   ///< iterations in the store
  Entry next_{};                      ///< the iteration being written
  std::optional<Iteration> first_{};  ///< of this run
  bool has_window_ = false;           ///< values are statistics over time
  bool began_ = false;
};

}  // namespace sidestream
