// The pass before the one in which an output writes: the servers agree on the forms of values, and on turns.
#pragma once

#include <vector>

#include "storage/writers/agreed_forms.hpp"

namespace sidestream {

/// The option `stagger` of outputs whose servers write files of their own.
template <class Owner>
[[nodiscard]] OptionField<Owner> stagger_option(bool Owner::*stagger) {
  return option(
      "stagger", stagger,
      "Makes dedicated servers write their files one after the other, each in a slot of its own, for disks that "
      "are slower with many writers. The slots take at most half of the time between two iterations.",
      {.standard = false});
}

/// One server's part. If nothing has to be agreed on, there is only the pass that writes.
class Preparation {
 public:
  Preparation(AgreedForms forms, bool stagger) : forms_(std::move(forms)), staggers_(stagger) {}

  [[nodiscard]] int passes() const noexcept { return forms_.measured() > 0 || staggers_ ? 2 : 1; }
  [[nodiscard]] bool comes_before(int pass) const noexcept { return pass + 1 < passes(); }
  /// For `local` of the pass before.
  [[nodiscard]] Bytes local(const LocalInput& input, const AgreedForms::Stored& stored) const;
  /// For `combine` of that pass; collective. Returns its feedback.
  [[nodiscard]] Bytes combine(const CombineInput& input);
  /// For `local` of the pass that writes: takes the feedback and waits for this server's slot, then writes. The time
  /// that `write` takes decides on the next slots.
  [[nodiscard]] Bytes write(const LocalInput& input, const std::function<Bytes()>& write);

  [[nodiscard]] const AgreedForms& forms() const noexcept { return forms_; }

 private:
  void take(BytesView feedback);

  AgreedForms forms_;
  bool staggers_;
  double writing_ = 0;                 ///< seconds of this server's last writing; 0: there was none
  double began_ = 0;                   ///< time of the last iteration on a server that combines
  double interval_ = 0, slowest_ = 0;  ///< agreed on: between iterations, and to write
};

}  // namespace sidestream
