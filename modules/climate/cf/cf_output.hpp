// One iteration of an output by the CF conventions, in which all servers write into the same files.
//
// First pass: each server counts the points that its blocks fill. The first server then makes the files with everything
// except the values of blocks, and announces the place of each array. Second pass: each server writes its values there;
// no two write the same bytes. When all have, the first server renames the files. If a run is killed before that, files
// have temporary names only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "climate/cf/cf_values.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "sidestream/kit/storage/writers/agreed_forms.hpp"

namespace sidestream {

/// The file that contains an array, by its temporary name, and the array's place there. Without a name there is none.
struct CfTarget {
  std::string path{};
  std::uint64_t place = 0;
};

/// The forms of values whose size is known beforehand.
[[nodiscard]] FormsOfOutput cf_forms();

/// Throws through settings.fail for variables on meshes that the CF conventions cannot represent.
void check_cf(const Settings& settings, const Metadata& metadata, const std::vector<std::int32_t>& variables);

/// Throws through settings.fail if the option `time_units` is given without a reference time.
void check_time_units(const Settings& settings, const std::string& units);

class CfOutput {
 public:
  static constexpr int passes = 2;

  /// Makes the files on the first server. Returns the target of each array.
  using Make = std::function<std::vector<CfTarget>(const CombineInput&, const CfShape&, const AgreedForms&)>;

  /// `writers`: number of servers that may write at a time, 0: all.
  CfOutput(CfLayout layout, AgreedForms forms, int writers)
      : layout_(std::move(layout)), forms_(std::move(forms)), writers_(writers) {}

  [[nodiscard]] const CfLayout& layout() const noexcept { return layout_; }
  /// The variables, and the arrays that their positions need.
  [[nodiscard]] Selection selection(const std::vector<std::int32_t>& variables, const Metadata& metadata) const;
  /// Does the work of `local` in a pass.
  [[nodiscard]] Bytes local(const LocalInput& input);
  /// Does the work of `combine` in the first pass; collective. Returns its feedback. If `make` throws, all throw the
  /// same.
  [[nodiscard]] Bytes agree(const CombineInput& input, PendingFiles& pending, const Make& make);
  /// Does the work of `combine` in the second pass; see PendingFiles::commit.
  void commit(const CombineInput& input, PendingFiles& pending, const std::function<void()>& index);

 private:
  [[nodiscard]] Bytes count(const LocalInput& input) const;
  void write(const LocalInput& input);

  CfLayout layout_;
  AgreedForms forms_;
  int writers_;
  std::function<void()> later_{};  ///< writes this server's values, in its turn
};

}  // namespace sidestream
