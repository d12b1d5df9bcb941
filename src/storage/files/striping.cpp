#include "storage/files/striping.hpp"

#include <dlfcn.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

/// Loads liblustreapi if the machine has it; it is not needed to build.
CreateStriped find_lustre() {
  /// int llapi_file_create(name, stripe_size, stripe_offset, stripe_count, stripe_pattern) returns 0 or a negative
  /// error number.
  using CreateFile = int (*)(const char*, unsigned long long, int, int, int);
  // The library stays loaded, since other sessions of the process may use it.
  for (const char* name : {"liblustreapi.so.1", "liblustreapi.so"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto create = reinterpret_cast<CreateFile>(dlsym(library, "llapi_file_create"));
    if (create == nullptr) continue;
    return [create](const std::string& path, const StripeRule& rule) {
      constexpr int any_target = -1, plain = 0;
      return std::abs(create(path.c_str(), rule.size, any_target, rule.count, plain));
    };
  }
  return {};
}

}  // namespace

Striping::Striping(std::vector<StripeRule> rules, std::string root, bool speaks)
    : rules_(std::move(rules)), root_(fs::path(std::move(root)).lexically_normal().string()), speaks_(speaks) {
  if (!rules_.empty()) create_ = find_lustre();
}

const StripeRule* Striping::rule_for(const std::string& name) const {
  const fs::path path = fs::path(name).lexically_normal();
  const std::string below = path.lexically_relative(root_).string();
  const bool is_below = !below.empty() && !below.starts_with("..");
  for (const StripeRule& rule : rules_) {
    if (is_below && ::fnmatch(rule.files.c_str(), below.c_str(), 0) == 0) return &rule;
    if (::fnmatch(rule.files.c_str(), path.c_str(), 0) == 0) return &rule;
  }
  return nullptr;
}

void Striping::give_up(dev_t system, const std::string& path, const std::string& why) const {
  if (!without_.insert(system).second || !speaks_) return;
  log::info("output.striping: the files in '{}' and others on that file system have its default stripes: {}",
            fs::path(path).parent_path().string(), why);
}

bool Striping::create(const std::string& path, const std::string& name) const {
  const StripeRule* const rule = rule_for(name);
  if (rule == nullptr || (rule->count == 0 && rule->size == 0)) return false;
  const std::string folder = fs::path(path).parent_path().string();
  struct stat facts {};
  if (::stat(folder.empty() ? "." : folder.c_str(), &facts) != 0)
    return false;  // creating the file will report the reason
  if (without_.count(facts.st_dev) > 0) return false;
  if (!create_) {
    give_up(facts.st_dev, path, "no library of a file system with stripes (liblustreapi) was found");
    return false;
  }
  ::unlink(path.c_str());
  const int error = create_(path, *rule);
  if (error == 0) return true;
  const bool is_other = error == ENOTTY || error == ENODEV || error == ENOTSUP || error == ENOSYS;
  if (!is_other && error != EINVAL && error != ERANGE) return false;  // creating the file will report the reason
  ::unlink(path.c_str());  // the library may have created the file before it failed
  give_up(facts.st_dev, path, is_other ? "it is not Lustre" : "Lustre: " + system_text(error));
  return false;
}

}  // namespace sidestream
