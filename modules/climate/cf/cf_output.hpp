// One iteration of an output by the CF conventions, in which all servers write into the same files.
//
// First pass: each server counts the points that its blocks fill. The first server then makes the files with everything
// except the values of blocks, and announces the place of each array. Second pass: each server writes its values there;
// no two write the same bytes. Values without a place of their own are written together instead. When all have, the
// first server renames the files. If a run is killed before that, files have temporary names only.
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

/// The lists and targets on which the servers agreed, before they write the values.
struct CfAgreement {
  CfLists lists{};
  std::vector<CfTarget> targets{};  ///< of each array

  [[nodiscard]] bool has(std::size_t array) const { return !targets[array].path.empty(); }
};

/// The forms of values whose size is known beforehand.
[[nodiscard]] FormsOfOutput cf_forms();

/// Throws through settings.fail for variables on meshes that the CF conventions cannot represent.
void check_cf(const Settings& settings, const Metadata& metadata, const std::vector<std::int32_t>& variables);

class CfOutput {
 public:
  static constexpr int passes = 2;

  /// Makes the files on the first server. Returns the target of each array.
  using Make = std::function<std::vector<CfTarget>(const CombineInput&, const CfShape&, const AgreedForms&)>;

  /// Writes the values of all servers in the second pass; collective. Returns why this server's part failed, or an
  /// empty text.
  using Together = std::function<std::string(const CombineInput&, const CfAgreement&)>;

  /// `writers`: number of servers that may write at a time, 0: all. `together`: writes the values, unless each server
  /// can write its own where they belong.
  CfOutput(CfLayout layout, AgreedForms forms, int writers, Together together = {})
      : layout_(std::move(layout)), forms_(std::move(forms)), writers_(writers), together_(std::move(together)) {}

  [[nodiscard]] const CfLayout& layout() const noexcept { return layout_; }
  /// The variables, and the arrays that their positions need.
  [[nodiscard]] Selection selection(const std::vector<std::int32_t>& variables, const Metadata& metadata) const;
  /// Does the work of `local` in a pass.
  [[nodiscard]] Bytes local(const LocalInput& input);
  /// Does the work of `combine` in the first pass; collective. Returns its feedback. If `make` throws, all throw the
  /// same.
  [[nodiscard]] Bytes agree(const CombineInput& input, PendingFiles& pending, const Make& make);
  /// In the second pass, if values are written together: passes the values of some arrays that are here to `sink`.
  using ArraySink = std::function<void(std::size_t array, BytesView values, const Box& part)>;
  void put(const CombineInput& input, const CfAgreement& agreement, std::size_t begin, std::size_t end,
           const ArraySink& sink) const;
  /// In the second pass: the array as one of its stored values, from the first byte on.
  [[nodiscard]] CfPlace place(std::size_t array, const Metadata& metadata, const CfLists& lists) const;
  /// Does the work of `combine` in the second pass; see PendingFiles::commit.
  void commit(const CombineInput& input, PendingFiles& pending, const std::function<void()>& index);

 private:
  [[nodiscard]] Bytes count(const LocalInput& input) const;
  [[nodiscard]] CfAgreement take_agreement(BytesView feedback);
  [[nodiscard]] Bytes pack(const LocalInput& input);
  void put(std::size_t array, const LocalInput& input, const CfLists& lists, const CfSink& sink) const;
  [[nodiscard]] StoredForm form_of(const CfArray& array, const Metadata& metadata) const;
  void write(const LocalInput& input);

  CfLayout layout_;
  AgreedForms forms_;
  int writers_;
  Together together_;
  Bytes feedback_{};               ///< of the first pass, if values are written together
  std::function<void()> later_{};  ///< writes this server's values, in its turn
};

}  // namespace sidestream
