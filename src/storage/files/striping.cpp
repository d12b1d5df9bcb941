#include "storage/files/striping.hpp"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "storage/files/lustre.hpp"

namespace sidestream {

namespace fs = std::filesystem;

std::span<const StripingKind> striping_kinds() noexcept {
  static constexpr std::array kinds{StripingKind{"Lustre", find_lustre}};
  return kinds;
}

Striping::Striping(std::vector<StripeRule> rules, std::string root, bool speaks)
    : rules_(std::move(rules)), root_(fs::path(std::move(root)).lexically_normal().string()), speaks_(speaks) {
  if (rules_.empty()) return;
  for (const StripingKind& kind : striping_kinds()) {
    if (auto found = kind.find()) back_ends_.emplace_back(kind.name, std::move(found));
  }
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
  if (::stat(folder.empty() ? "." : folder.c_str(), &facts) != 0) return false;  // creating the file will say why
  if (without_.count(facts.st_dev) > 0) return false;
  if (back_ends_.empty()) {
    give_up(facts.st_dev, path, "no library of a file system with stripes (liblustreapi) was found");
    return false;
  }
  ::unlink(path.c_str());
  std::string why;
  for (const auto& [kind, back_end] : back_ends_) {
    const int error = back_end->create(path, *rule);
    if (error == 0) return true;
    const bool is_other = error == ENOTTY || error == ENODEV || error == ENOTSUP || error == ENOSYS;
    if (!is_other && error != EINVAL && error != ERANGE) return false;  // creating the file will say why
    ::unlink(path.c_str());  // the library may have made the file before it found out
    why += (why.empty() ? "" : ", ") + std::string(is_other ? "it is not " : "") + kind +
           (is_other ? "" : ": " + system_text(error));
  }
  give_up(facts.st_dev, path, why);
  return false;
}

}  // namespace sidestream
