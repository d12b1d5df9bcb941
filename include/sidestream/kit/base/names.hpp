// Names in messages: lists of known names, and suggestions for unknown ones.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

/// "a, b, c", or "none" if there is none.
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

/// The entry of `known` that is most similar to `unknown`; empty if none is similar.
[[nodiscard]] std::string did_you_mean(const std::string& unknown, const std::vector<std::string>& known);

/// The remedy for an unknown name: "did you mean 'x'?", or `otherwise` if no name is similar.
[[nodiscard]] std::string suggestion(const std::string& unknown, const std::vector<std::string>& known,
                                     const std::string& otherwise);

/// The keys of a map, in its order.
template <class Map>
[[nodiscard]] std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace sidestream
