#include "commands.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {
namespace {

/// A heading and the text up to the next heading that is not below it.
struct ManualPart {
  std::size_t depth = 0;  ///< number of '#'
  std::string title, text;
};

std::vector<ManualPart> parts_of(const std::string& manual) {
  std::vector<ManualPart> parts;
  std::istringstream lines(manual);
  bool code = false;  // in an example a '#' begins a comment
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    const std::size_t depth = code ? 0 : std::min(line.find_first_not_of('#'), line.size());
    if (depth > 0) parts.push_back({depth, line.substr(std::min(depth + 1, line.size())), {}});
    for (ManualPart& part : parts) {
      if (&part == &parts.back() || part.depth == 0) continue;
      if (depth > 0 && depth <= part.depth) part.depth = 0;  // end of the part
    }
    for (ManualPart& part : parts) {
      if (part.depth > 0) part.text += line + "\n";
    }
  }
  return parts;
}

}  // namespace

std::string reference_part(const std::string& manual, const std::string& name) {
  const std::vector<ManualPart> parts = parts_of(manual);
  const std::string title = name == "options" ? "Options of every analysis and output" : name;
  std::string found;
  std::vector<std::string> known{"options"};
  for (const ManualPart& part : parts) {
    if (part.title == title) found += part.text;
    if (part.title.find(' ') == std::string::npos) known.push_back(part.title);
  }
  if (found.empty()) {
    fail(Code::usage, "the reference has no part '{}'; {}", name, suggestion(name, known, "it has " + listed(known)));
  }
  found.erase(found.find_last_not_of('\n') + 2);
  return found;
}

}  // namespace sidestream
