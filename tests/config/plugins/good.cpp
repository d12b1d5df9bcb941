// A correct plug-in.
#include "sidestream/extend/plugin.hpp"

SIDESTREAM_PLUGIN(registry) {
  sidestream::AnalysisKind kind;
  kind.name = "from_plugin";
  kind.text = "For the tests.";
  kind.options = {{.name = "strength", .type = sidestream::OptionType::real, .default_value = "0.5", .text = "Any."}};
  kind.create = [](const sidestream::Settings&, const sidestream::Metadata&) {
    return std::unique_ptr<sidestream::Task>();
  };
  registry.add(kind);
}
