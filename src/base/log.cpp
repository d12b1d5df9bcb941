#include "sidestream/kit/base/log.hpp"

#include <unistd.h>

#include <exception>
#include <string>

#include "base/run_log.hpp"
#include "base/waiting.hpp"

namespace sidestream::log {

void put(const char* severity, fmt::string_view format, fmt::format_args args) noexcept {
  try {
    std::string sentence;
    retry_while_out_of_memory([&] {
      sentence = fmt::vformat(format, args);
      const std::string line = fmt::format("sidestream: {}: {}\n", severity, sentence);
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    });
    if (const std::shared_ptr<RunLog> log = current_log()) log->add(severity, sentence);
  } catch (const std::exception&) {
    constexpr char none[] = "sidestream: a message is missing: no memory for it\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, none, sizeof none - 1);
  }
}

}  // namespace sidestream::log
