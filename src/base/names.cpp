#include "sidestream/kit/base/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), lower_case);
  return text;
}

/// Number of insertions, deletions, replacements and swaps of neighbours (optimal string alignment). Swaps are the most
/// frequent typing error and must count as one.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string did_you_mean(const std::string& unknown, const std::vector<std::string>& known) {
  const std::string wanted = lower(unknown);
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(wanted, lower(name));
    // With a distance as long as the name, any two names would match.
    if (distance < best_distance && distance < name.size()) {
      best_distance = distance;
      best = name;
    }
  }
  if (!best.empty()) return best;
  // Names of these types in C and Fortran.
  static const std::map<std::string, std::string> aliases{{"double", "float64"}, {"float", "float32"},
                                                          {"real", "float64"},   {"int", "int32"},
                                                          {"long", "int64"},     {"char", "int8"}};
  const auto alias = aliases.find(wanted);
  if (alias != aliases.end() && std::find(known.begin(), known.end(), alias->second) != known.end())
    return alias->second;
  // `var` for `variable`, `isosurfaces` for `isosurface`: one is a prefix of the other.
  for (const std::string& name : known) {
    const std::string candidate = lower(name);
    const std::size_t length = std::min(wanted.size(), candidate.size());
    if (length >= 3 && wanted.compare(0, length, candidate, 0, length) == 0) return name;
  }
  return {};
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string suggestion(const std::string& unknown, const std::vector<std::string>& known,
                       const std::string& otherwise) {
  const std::string near = did_you_mean(unknown, known);
  return near.empty() ? otherwise : fmt::format("did you mean '{}'?", near);
}

}  // namespace sidestream
