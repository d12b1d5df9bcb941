#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "targets.hpp"
#include "translate/translation.hpp"

namespace sidestream::fuzz {

/// A configuration of Damaris, in a file without a name.
void run_damaris(BytesView input) {
  static const int file = ::memfd_create("configuration", MFD_CLOEXEC);
  const bool written =
      ::ftruncate(file, 0) == 0 && ::pwrite(file, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size());
  if (!written) throw std::runtime_error("cannot write to memory");
  refused_or_read([&] { static_cast<void>(translate("damaris", fmt::format("/proc/{}/fd/{}", ::getpid(), file))); });
}

}  // namespace sidestream::fuzz
