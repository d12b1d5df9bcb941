#include "kinds.hpp"

#include "analysis/register.hpp"
#include "partition/register.hpp"
#include "storage/register.hpp"
#include "transport/staging/writer.hpp"

namespace sidestream {

Registry built_in_kinds() {
  Registry registry;
  register_analyses(registry);
  register_storage(registry);
  register_partitioners(registry);
  staging::register_streams(registry, std::make_shared<staging::StreamContext>());
  return registry;
}

}  // namespace sidestream
