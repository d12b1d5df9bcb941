#include "kinds.hpp"

#include "analysis/register.hpp"
#include "partition/register.hpp"
#include "storage/register.hpp"

namespace sidestream {

Registry built_in_kinds() {
  Registry registry;
  register_analyses(registry);
  register_storage(registry);
  register_partitioners(registry);
  return registry;
}

}  // namespace sidestream
