// Replaces the translations if there is no tinyxml2.
#include "sidestream/kit/base/fail.hpp"
#include "translate/translation.hpp"

namespace sidestream {

Translation translate(const std::string& /*format*/, const std::string& file) {
  fail(
      Code::configuration,
      "translating '{}' takes tinyxml2, which was not found when this tool was built; install it (libtinyxml2-dev) and "
      "build again",
      file);
}

}  // namespace sidestream
