#include "storage/writers/preparation.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/stagger.hpp"

namespace sidestream {

int agreed_writers(const Settings& settings, bool stagger, const OutputDirectory& directory) {
  const int writers = directory.writers();
  if (!stagger || writers == 0) return writers;
  settings.fail("stagger",
                fmt::format("found 'stagger' and 'writers: {}' of the section 'output', expected one of them; "
                            "remove one",
                            writers));
}

/// Returns the numbers of the forms, then the negative time of writing.
Bytes Preparation::local(const LocalInput& input, const AgreedForms::Stored& stored) const {
  std::vector<double> mine = forms_.measure(input, stored);
  mine.push_back(-writing_);
  return bytes_of(mine);
}

/// Takes the minimum of each number over all servers, and of the time since the last iteration.
Bytes Preparation::combine(const CombineInput& input) {
  std::vector<double> least(forms_.measured() + 2, std::numeric_limits<double>::infinity());
  for (const Bytes& partial : input.partials) {
    const auto mine = records_of<double>(partial);
    for (std::size_t n = 0; n + 1 < least.size(); ++n) least[n] = std::min(least[n], mine.at(n));
  }
  const double start = now();
  least.back() = began_ > 0 ? start - began_ : 0;
  began_ = start;
  input.communicator.minimum(std::span<double>(least));
  Bytes feedback = bytes_of(least);
  take(feedback);
  forms_.report(input);
  return feedback;
}

void Preparation::take(BytesView feedback) {
  const auto least = records_of<double>(feedback);
  forms_.take(least);
  slowest_ = -least.at(least.size() - 2);
  interval_ = least.back();
}

Bytes Preparation::write(const LocalInput& input, const std::function<Bytes()>& write) {
  if (input.pass > 0) take(input.feedback);
  if (writers_ > 0) {
    later_ = write;
    return {};
  }
  if (staggers_) {
    // The delay counts from here, which all servers reach at nearly the same time.
    const double delay = database::slot_begin(input.server, input.servers, interval_, slowest_);
    if (delay > 0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  }
  const double start = now();
  Bytes partial = write();
  writing_ = now() - start;
  return partial;
}

void Preparation::commit(const CombineInput& input, PendingFiles& pending,
                         const std::function<void(const std::vector<Bytes>& partials)>& index) {
  if (writers_ == 0) return pending.commit(input.communicator, input.partials, index);
  std::vector<Bytes> written;
  std::string failure;
  const auto write = [&] { failure = failure_of([&] { written = {later_()}; }); };
  try {
    take_turns(input.communicator, writers_, std::cref(write));
  } catch (...) {
    pending.discard();
    throw;
  }
  pending.commit(input.communicator, written, failure, index);
}

}  // namespace sidestream
