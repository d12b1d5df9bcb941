// A plug-in with C tables in which one thing is wrong, chosen when it is compiled. C++, since such tables may come from
// code that throws.
#include <stdexcept>

#include "sidestream/analysis.h"

namespace {

int create(const sidestream_settings*, const sidestream_metadata*, void*, void**, char*) { return 0; }
int choose(void*, sidestream_selection*, int*, char*) { return 0; }
int local(void*, const sidestream_input*, sidestream_bytes*, char*) { return 0; }
int combine(void*, const sidestream_input*, sidestream_results*, sidestream_bytes*, char*) { return 0; }

sidestream_analysis right() {
  sidestream_analysis table{};
  table.struct_size = sizeof table;
  table.name = "from_c";
  table.create = create;
  table.select = choose;
  table.local = local;
  table.combine = combine;
  return table;
}

sidestream_analysis table = right();
const sidestream_analysis* const tables[] = {&table};
const sidestream_analysis* const no_tables[] = {nullptr};
sidestream_c_plugin_header header = {SIDESTREAM_C_PLUGIN_MAGIC, SIDESTREAM_C_PLUGIN_VERSION, 1, tables};

}  // namespace

extern "C" __attribute__((visibility("default"))) const sidestream_c_plugin_header* sidestream_c_plugin(void) {
  enum { nothing, magic, version, none, null_table, size, name, no_local, options, throws } const wrong = WRONG;
  switch (wrong) {
    case nothing:
      break;
    case magic:
      header.magic += 1;
      break;
    case version:
      header.version += 1;
      break;
    case none:
      return nullptr;
    case null_table:
      header.analyses = no_tables;
      break;
    case size:
      table.struct_size = 8;
      break;
    case name:
      table.name = "";
      break;
    case no_local:
      table.local = nullptr;
      break;
    case options:
      table.option_count = 3;
      break;
    case throws:
      throw std::runtime_error("the licence has run out");
  }
  return &header;
}
