#include "base/folder_names.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "base/fail.hpp"
#include "base/system_text.hpp"

namespace sidestream {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

[[noreturn]] void fail_to_read(const std::string& folder, int error) {
  fail(Code::system, "cannot read the folder '{}': {}", folder, system_text(error));
}

}  // namespace

std::vector<std::string> names_in_folder(const std::string& folder) {
  const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
  if (!open) fail_to_read(folder, errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;  // Its end and an error look alike.
    const dirent* const entry = readdir(open.get());
    if (!entry && errno != 0) fail_to_read(folder, errno);
    if (!entry) return names;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

}  // namespace sidestream
