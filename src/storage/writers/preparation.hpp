// The pass before an output writes: the servers agree on the forms of values, and on turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "sidestream/kit/storage/writers/agreed_forms.hpp"

namespace sidestream {

/// The option `stagger` of outputs with a file for each server. Not together with `output: {writers: N}`.
template <class Owner>
[[nodiscard]] OptionField<Owner> stagger_option(bool Owner::*stagger) {
  return option(
      "stagger", stagger,
      "Makes dedicated servers write their files one after the other, each in a slot of its own, for disks that "
      "are slower with many writers. The slots take at most half of the time between two iterations. "
      "`writers` of the section `output` is the other way to keep writers apart.",
      {.standard = false});
}

/// Number of servers that may write at a time, 0: all. Throws through settings.fail if they are also to stagger.
[[nodiscard]] int agreed_writers(const Settings& settings, bool stagger, const OutputDirectory& directory);

/// One server's part of the preparation. If nothing has to be agreed on, there is only the pass that writes.
class Preparation {
 public:
  /// `writers`: number of servers that may write at a time, 0: all; only without `stagger`.
  Preparation(AgreedForms forms, bool stagger, int writers)
      : forms_(std::move(forms)), staggers_(stagger), writers_(writers) {}

  [[nodiscard]] int passes() const noexcept { return forms_.measured() > 0 || staggers_ ? 2 : 1; }
  [[nodiscard]] bool comes_before(int pass) const noexcept { return pass + 1 < passes(); }
  /// Does the work of `local` in the preparing pass.
  [[nodiscard]] Bytes local(const LocalInput& input, const AgreedForms::Stored& stored) const;
  /// Does the work of `combine` in that pass; collective. Returns its feedback.
  [[nodiscard]] Bytes combine(const CombineInput& input);
  /// Does the work of `local` in the writing pass: takes the feedback, waits for this server's slot, then writes. The
  /// time that `write` takes decides on the next slots. If few servers write at a time, commit() calls `write` instead,
  /// so its references must stay valid until then.
  [[nodiscard]] Bytes write(const LocalInput& input, const std::function<Bytes()>& write);
  /// Does the work of `combine` in that pass: writes now if few servers write at a time, then commits; see
  /// PendingFiles::commit. Collective. If anything throws, nothing is pending any more.
  void commit(const CombineInput& input, PendingFiles& pending,
              const std::function<void(const std::vector<Bytes>& partials)>& index);

  [[nodiscard]] const AgreedForms& forms() const noexcept { return forms_; }

 private:
  void take(BytesView feedback);

  AgreedForms forms_;
  bool staggers_;
  int writers_;
  std::function<Bytes()> later_{};  ///< writes this server's values, in its turn
  double writing_ = 0;              ///< seconds of this server's last writing; 0: there was none
  double began_ = 0;                ///< time of the last iteration on a server that combines
  double interval_ = 0,
         slowest_ = 0;  ///< agreed on: seconds between iterations; seconds that the slowest server writes
};

}  // namespace sidestream
