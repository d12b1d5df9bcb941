// A plug-in that cannot register itself.
#include <stdexcept>

#include "sidestream/extend/plugin.hpp"

SIDESTREAM_PLUGIN(registry) {
  static_cast<void>(registry);
  throw std::runtime_error("the licence has run out");
}
