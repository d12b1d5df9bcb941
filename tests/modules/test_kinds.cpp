// Modules as plug-ins: their kinds, and how they register them where some exist already.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "session/opening/modules.hpp"
#include "sidestream/extend/registry.hpp"

using namespace sidestream;

namespace {

/// All modules of this build, with `:` between them.
constexpr char module_files[] = SIDESTREAM_MODULE_FILES;

using Kinds = std::set<std::pair<KindOf, std::string>>;

template <class Map>
void add_names(Kinds& kinds, KindOf of, const Map& map) {
  for (const auto& [name, kind] : map) kinds.emplace(of, name);
}

Kinds kinds_of(const Registry& registry) {
  Kinds kinds;
  add_names(kinds, KindOf::task, registry.analyses());
  add_names(kinds, KindOf::task, registry.writers());
  add_names(kinds, KindOf::task, registry.streams());
  add_names(kinds, KindOf::codec, *registry.codecs());
  return kinds;
}

}  // namespace

TEST_CASE("each module has the kinds that the build says it has") {
  std::istringstream files(module_files);
  for (std::string file; std::getline(files, file, ':');) {
    CAPTURE(file);
    Kinds said;
    for (const ModuleKind& known : module_kinds()) {
      if (std::filesystem::path(file).stem() == std::string("sidestream_") + known.module)
        said.emplace(known.of, known.kind);
    }
    Registry registry;
    add_modules({file}, registry);
    CHECK_FALSE(said.empty());
    CHECK(kinds_of(registry) == said);
  }
}

TEST_CASE("kinds of the program and of its plug-ins take precedence") {
  std::istringstream files(module_files);
  for (std::string file; std::getline(files, file, ':');) {
    Registry all;
    add_modules({file}, all);
    if (all.analyses().empty()) continue;
    Registry registry;
    AnalysisKind mine;
    mine.name = all.analyses().begin()->first;
    mine.text = "The program's own.";
    registry.add(mine);
    add_modules({file}, registry);
    CHECK(registry.analyses().at(mine.name).text == mine.text);
    CHECK(kinds_of(registry) == kinds_of(all));
  }
}
