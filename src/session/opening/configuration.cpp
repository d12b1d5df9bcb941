#include "session/opening/configuration.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/common/kinds.hpp"
#include "base/mpi/agree.hpp"
#include "base/paths.hpp"
#include "partition/kinds.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/text.hpp"
#include "storage/register.hpp"

namespace sidestream {

std::string read_configuration_file(const std::string& file, const std::string& mend) {
  if (std::filesystem::is_directory(file)) {
    fail(Code::configuration, "{}: found a directory, expected a configuration file; correct the path", file);
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) fail(Code::configuration, "{}: cannot read the configuration ({}); {}", file, system_text(errno), mend);
  return text.str();
}

std::string common_folder(Communicator& world) {
  std::string folder;
  run_collectively(world, [&] {
    if (world.rank() == 0) folder = working_directory();
  });
  share_text(world, folder);
  return folder;
}

void register_built_in(Registry& registry) {
  register_analyses(registry);
  register_storage(registry);
  register_partitioners(registry);
}

}  // namespace sidestream
