#include "config/stream_config.hpp"

#include <fmt/format.h>

namespace sidestream {

std::vector<Option> stream_options() {
  return {
      {.name = "name",
       .default_value = "stream",
       .text = "The name of its folder in `directory`, by which the endpoint finds it. Streams that are open at the "
               "same time need different names."},
      {.name = "directory",
       .type = OptionType::text,
       .default_value = "streams",
       .text = "A directory that both jobs see. Jobs that run on different machines need a shared one, also with the "
               "engine `sst`, which finds its partner through it.",
       .range_text = path_range},
      {.name = "engine",
       .type = OptionType::choice,
       .default_value = "auto",
       .text = "The transport of values. `files`: files in the directory. `sst`: ADIOS2 over the network, if "
               "Sidestream was built with it. `auto`: `sst` if available, otherwise `files`.",
       .choices = {"auto", "files", "sst"}},
      {.name = "parameters",
       .type = OptionType::pairs,
       .default_value = "{}",
       .text = "Parameters passed to ADIOS2 unchanged, for `sst`: `{DataTransport: WAN, NetworkInterface: ib0}`."},
      {.name = "when_full",
       .type = OptionType::choice,
       .text = "The treatment of an iteration while there is no reader. `wait`: it is kept for a reader, at most "
               "`reader_limit` seconds, then refused. `skip`: it is refused. The default is the placement's "
               "`when_full` under `placement`, otherwise `wait`.",
       .choices = {"wait", "skip"}},
      {.name = "reader_limit",
       .type = OptionType::real,
       .default_value = "60",
       .text = "Seconds without a sign of life after which a reader counts as dead, and seconds that `wait` waits for "
               "another, or for the first.",
       .minimum = 1},
      {.name = "ranges",
       .type = OptionType::boolean,
       .default_value = "true",
       .text = "Sends the extremes of each block with it, so that an endpoint only reads the blocks that an "
               "isosurface passes through. `false` saves the servers one pass over the values."},
  };
}

StreamConfig read_stream(const Settings& settings, WhenFull when_full) {
  StreamConfig config;
  config.name = settings.text("name");
  if (config.name.empty()) config.name = "stream";  // an output without a name
  if (config.name.find('/') != std::string::npos || config.name.front() == '.') {
    settings.fail("name", fmt::format("found the name '{}' for a stream, expected a text without '/' that does not "
                                      "begin with a dot; it becomes the name of a folder",
                                      config.name));
  }
  config.directory = settings.text("directory");
  if (config.directory.empty()) {
    settings.fail("directory", "found an empty 'directory', expected a folder; write '.' for the working directory");
  }
  config.engine = settings.text("engine");
  config.parameters = settings.pairs("parameters");
  if (config.engine == "files" && !config.parameters.empty()) {
    settings.fail("parameters",
                  "found 'parameters' for the engine 'files', which has none; write 'engine: sst' or remove them");
  }
  config.when_full = when_full;
  if (settings.has("when_full")) {
    config.when_full = settings.text("when_full") == "skip" ? WhenFull::skip : WhenFull::wait;
  }
  config.reader_limit = settings.real("reader_limit");
  config.ranges = settings.boolean("ranges");
  return config;
}

std::vector<StreamConfig> streams_for(const StreamConfig& one, const std::vector<ServerGroup>& groups) {
  if (groups.empty()) return {one};
  std::vector<StreamConfig> streams(groups.size(), one);
  for (std::size_t g = 0; g < groups.size(); ++g) streams[g].group = groups[g].name;
  return streams;
}

std::vector<StreamConfig> streams_of(const PlacementConfig& placement) {
  return streams_for(read_stream(placement.stream), placement.groups);
}

}  // namespace sidestream
