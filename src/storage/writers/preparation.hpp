// The pass before the one in which an output writes: the servers agree on the forms of values, and on turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"
#include "storage/results/agreed_commit.hpp"
#include "storage/writers/agreed_forms.hpp"

namespace sidestream {

/// The option `stagger` of outputs whose servers write files of their own. Not together with `output: {writers: N}`.
template <class Owner>
[[nodiscard]] OptionField<Owner> stagger_option(bool Owner::*stagger) {
  return option(
      "stagger", stagger,
      "Makes dedicated servers write their files one after the other, each in a slot of its own, for disks that "
      "are slower with many writers. The slots take at most half of the time between two iterations. "
      "`writers` of the section `output` is the other way to keep writers apart.",
      {.standard = false});
}

/// The number of servers that may write at a time, 0: all. Throws through settings.fail if they are to stagger, too.
[[nodiscard]] int agreed_writers(const Settings& settings, bool stagger, const OutputDirectory& directory);

/// One server's part. If nothing has to be agreed on, there is only the pass that writes.
class Preparation {
 public:
  /// `writers`: as many servers write at a time, 0: all; only without `stagger`.
  Preparation(AgreedForms forms, bool stagger, int writers)
      : forms_(std::move(forms)), staggers_(stagger), writers_(writers) {}

  [[nodiscard]] int passes() const noexcept { return forms_.measured() > 0 || staggers_ ? 2 : 1; }
  [[nodiscard]] bool comes_before(int pass) const noexcept { return pass + 1 < passes(); }
  /// For `local` of the pass before.
  [[nodiscard]] Bytes local(const LocalInput& input, const AgreedForms::Stored& stored) const;
  /// For `combine` of that pass; collective. Returns its feedback.
  [[nodiscard]] Bytes combine(const CombineInput& input);
  /// For `local` of the pass that writes: takes the feedback and waits for this server's slot, then writes. The time
  /// that `write` takes decides on the next slots. If few servers write at a time, commit() calls `write` instead, so
  /// what it refers to must last until then.
  [[nodiscard]] Bytes write(const LocalInput& input, const std::function<Bytes()>& write);
  /// For `combine` of that pass, collective: writes now if few servers write at a time, then commits; see
  /// PendingFiles::commit. If anything throws, nothing is pending any more.
  void commit(const CombineInput& input, PendingFiles& pending,
              const std::function<void(const std::vector<Bytes>& partials)>& index);

  [[nodiscard]] const AgreedForms& forms() const noexcept { return forms_; }

 private:
  void take(BytesView feedback);

  AgreedForms forms_;
  bool staggers_;
  int writers_;
  std::function<Bytes()> later_{};     ///< what this server writes in its turn
  double writing_ = 0;                 ///< seconds of this server's last writing; 0: there was none
  double began_ = 0;                   ///< time of the last iteration on a server that combines
  double interval_ = 0, slowest_ = 0;  ///< agreed on: between iterations, and to write
};

}  // namespace sidestream
