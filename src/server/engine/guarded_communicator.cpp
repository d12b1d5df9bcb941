#include "server/engine/guarded_communicator.hpp"

#include <exception>
#include <new>

#include "base/mpi/agree.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

/// Tells all members whether some member has thrown. Collective; allocates nothing.
void GuardedCommunicator::share_status(bool well) {
  std::int64_t failing = well ? 0 : 1;
  if (inner_.size() > 1) inner_.maximum(std::span(&failing, 1));
  broken_ = failing != 0;
}

void GuardedCommunicator::check() {
  if (!broken_) share_status(true);
  if (broken_) throw Error(Code::analysis, "another server has failed");
}

std::string GuardedCommunicator::attempt(CallRef work) {
  broken_ = false;
  std::exception_ptr thrown;
  try {
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  // A member that learned of another's failure during its work has thrown only for that reason.
  const bool others_know = broken_;
  if (!others_know) share_status(!thrown);
  if (!broken_) return {};
  try {
    run_collectively(inner_, [&] {
      if (thrown && !others_know) std::rethrow_exception(thrown);
    });
    return "failed";
  } catch (const std::bad_alloc&) {
    return "no memory";  // short enough to need no allocation
  } catch (const std::exception& e) {
    try {
      return escaped_utf8(e.what());  // a plug-in may return any text, and this goes into files
    } catch (const std::bad_alloc&) {
      return "no memory";
    }
  }
}

}  // namespace sidestream
