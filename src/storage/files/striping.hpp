// Stripes of files on parallel file systems, which must be set when a file is created.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/file_rules.hpp"

namespace sidestream {

/// Creates an empty file with the stripes of a rule. Nothing of that name may exist. Returns 0 or an error number.
using CreateStriped = std::function<int(const std::string& path, const StripeRule& rule)>;

/// The rules of a run, and the file systems that ignore them.
class Striping {
 public:
  /// Looks up Lustre's library (liblustreapi) on this machine, if there are rules. `root`: the output directory.
  /// `speaks`: true on one server, which logs.
  Striping(std::vector<StripeRule> rules, std::string root, bool speaks);

  /// Creates `path`, the temporary of the file `name`, with the stripes of the first rule that matches `name`. Replaces
  /// a file of that name. Returns false, and leaves the creation to the caller, if no rule matches or the file system
  /// has no stripes; the latter is logged once for each file system.
  bool create(const std::string& path, const std::string& name) const;

 private:
  [[nodiscard]] const StripeRule* rule_for(const std::string& name) const;
  void give_up(dev_t system, const std::string& path, const std::string& why) const;

  std::vector<StripeRule> rules_;
  std::string root_;
  CreateStriped create_{};  ///< empty: this machine has no library for stripes
  bool speaks_;
  mutable std::set<dev_t> without_{};  ///< file systems without stripes; only one thread makes files
};

}  // namespace sidestream
