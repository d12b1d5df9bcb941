#include "transport/staging/opening_file.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <exception>

#include "base/waiting.hpp"
#include "sidestream/kit/base/log.hpp"
#include "transport/staging/folder.hpp"
#include "transport/staging/heartbeat.hpp"

namespace sidestream::staging {

OpeningFile::OpeningFile(const Folder& folder) : folder_(folder) {
  std::uint64_t number = 0;
  [[maybe_unused]] const auto got = getrandom(&number, sizeof number, 0);  // any number will do
  sign_ = fmt::format("format: sidestream-opening\nnumber: {:016x}\nprocess: {}\n", number, this_process());
  folder_.prepare();
  folder_.put(names::opening, sign_ + "state: open\n");
}

OpeningFile::~OpeningFile() {
  try {
    retry_while_out_of_memory([&] {
      const std::optional<std::string> text = folder_.text(names::opening);
      // If it is not there, the stream was announced, or another simulation is about to start.
      if (text && text->starts_with(sign_)) folder_.put(names::opening, sign_ + "state: failed\n");
    });
  } catch (const std::exception& error) {
    log::warning("{}", error.what());
  }
}

std::string OpeningWatch::over() const {
  const std::optional<std::string> text = folder_.text(names::opening);
  if (!text) return {};  // no simulation has come, or its stream is there
  const bool ended = line_of(*text, "state") != "open" || staging::has_ended(line_of(*text, "process"));
  return ended ? line_of(*text, "number") : "";
}

bool OpeningWatch::has_ended() const {
  const std::string number = over();
  return !number.empty() && number != earlier_;
}

}  // namespace sidestream::staging
