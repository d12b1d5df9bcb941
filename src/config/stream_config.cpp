#include "config/stream_config.hpp"

#include <fmt/format.h>

#include "sidestream/extend/option_table.hpp"

namespace sidestream {

namespace {

void check_folder_name(const Settings& settings, const std::string& option, const Metadata&, StreamConfig& stream) {
  if (stream.name.empty()) stream.name = "stream";  // an output without a name
  if (stream.name.find('/') == std::string::npos && stream.name.front() != '.') return;
  settings.fail(option, fmt::format("found the name '{}' for a stream, expected a text without '/' that does not "
                                    "begin with a dot; it becomes the name of a folder",
                                    stream.name));
}

void check_directory(const Settings& settings, const std::string& option, const Metadata&, const StreamConfig& stream) {
  if (!stream.directory.empty()) return;
  settings.fail(option, "found an empty 'directory', expected a folder; write '.' for the working directory");
}

void check_engine(const Settings& settings, const std::string& option, const Metadata&, const StreamConfig& stream) {
  if (stream.engine != "files" || stream.parameters.empty()) return;
  settings.fail(option,
                "found 'parameters' for the engine 'files', which has none; write 'engine: sst' or remove them");
}

const OptionTable<StreamConfig>& stream_table() {
  static const OptionTable<StreamConfig> table{
      option("name", &StreamConfig::name,
             "The name of its folder in `directory`, by which the endpoint finds it. Streams that are open at the same "
             "time need different names.",
             {.standard = "stream"})
          .then(check_folder_name),
      option("directory", &StreamConfig::directory,
             "A directory that both jobs see. Jobs that run on different machines need a shared one, also with the "
             "engine `sst`, which finds its partner through it.",
             {.standard = "streams", .range_text = path_range})
          .then(check_directory),
      option<OptionType::choice>(
          "engine", &StreamConfig::engine,
          "The transport of values. `files`: files in the directory. `sst`: ADIOS2 over the network, if Sidestream was "
          "built with it. `auto`: `sst` if available, otherwise `files`.",
          {.standard = "auto", .choices = {"auto", "files", "sst"}}),
      option("parameters", &StreamConfig::parameters,
             "Parameters passed to ADIOS2 unchanged, for `sst`: `{DataTransport: WAN, NetworkInterface: ib0}`.",
             {.standard = "{}"})
          .then(check_engine),
      option("when_full", &StreamConfig::when_full,
             "The treatment of an iteration while there is no reader. `wait`: it is kept for a reader, at most "
             "`reader_limit` seconds, then refused. `skip`: it is refused. The default is the placement's `when_full` "
             "under `placement`, otherwise `wait`.",
             {.choices = {{"wait", WhenFull::wait}, {"skip", WhenFull::skip}}}),
      option("reader_limit", &StreamConfig::reader_limit,
             "Seconds without a sign of life after which a reader counts as dead, and seconds that `wait` waits for "
             "another, or for the first.",
             {.standard = 60, .minimum = 1}),
      option("ranges", &StreamConfig::ranges,
             "Sends the extremes of each block with it, so that an endpoint only reads the blocks that an isosurface "
             "passes through. `false` saves the servers one pass over the values.",
             {.standard = true})};
  return table;
}

}  // namespace

std::vector<Option> stream_options() { return stream_table().declarations(); }

StreamConfig read_stream(const Settings& settings, WhenFull when_full) {
  StreamConfig config;
  config.when_full = when_full;
  stream_table().fill(settings, {}, config);
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
