// One iteration of an output by the CF conventions, whose servers all write into the same files.
//
// First pass: each server counts what its blocks fill. The first server then makes the files with everything but the
// values of blocks, and says where in them each array is. Second pass: each server writes its values there; no two
// write the same bytes. When all have, the first server gives the files their names. Whenever a run is killed before
// that, files have temporary names only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/option_table.hpp"
#include "storage/results/agreed_commit.hpp"
#include "storage/writers/agreed_forms.hpp"
#include "storage/writers/cf_values.hpp"

namespace sidestream {

/// The file that has an array, by its temporary name, and the array's place there. Without a name there is none.
struct CfTarget {
  std::string path{};
  std::uint64_t place = 0;
};

/// The forms of values that need no more room than is known beforehand.
[[nodiscard]] FormsOfOutput cf_forms();

/// Throws through settings.fail for variables on meshes that the CF conventions do not have.
void check_cf(const Settings& settings, const Metadata& metadata, const std::vector<std::int32_t>& variables);

/// Throws through settings.fail if the option `time_units` is given and says no zero.
void check_time_units(const Settings& settings, const std::string& units);

class CfOutput {
 public:
  static constexpr int passes = 2;

  /// Makes the files on the first server. Returns the target of each array.
  using Make = std::function<std::vector<CfTarget>(const CombineInput&, const CfShape&, const AgreedForms&)>;

  /// `writers`: as many servers write at a time, 0: all.
  CfOutput(CfLayout layout, AgreedForms forms, int writers)
      : layout_(std::move(layout)), forms_(std::move(forms)), writers_(writers) {}

  [[nodiscard]] const CfLayout& layout() const noexcept { return layout_; }
  /// The variables, with what their positions need.
  [[nodiscard]] Selection selection(const std::vector<std::int32_t>& variables, const Metadata& metadata) const;
  /// For `local` of a pass.
  [[nodiscard]] Bytes local(const LocalInput& input);
  /// For `combine` of the first pass; collective. Returns its feedback. If `make` throws, all throw the same.
  [[nodiscard]] Bytes agree(const CombineInput& input, PendingFiles& pending, const Make& make);
  /// For `combine` of the second pass; see PendingFiles::commit.
  void commit(const CombineInput& input, PendingFiles& pending, const std::function<void()>& index);

 private:
  [[nodiscard]] Bytes count(const LocalInput& input) const;
  void write(const LocalInput& input);

  CfLayout layout_;
  AgreedForms forms_;
  int writers_;
  std::function<void()> later_{};  ///< what this server writes in its turn
};

}  // namespace sidestream
