#include "sidestream/extend/plugin.hpp"
#include "staging/server.hpp"
#include "staging/writer.hpp"

SIDESTREAM_PLUGIN(registry) {
  using namespace sidestream;
  StreamKind kind;
  kind.name = "stream";
  kind.output = staging::stream_output;
  kind.reader = [](const StreamConfig& config, Communicator& readers, double patience, std::function<bool()> stop) {
    return std::make_unique<staging::Server>(config, readers, patience, std::move(stop));
  };
  kind.opening = [](const StreamConfig& config) {
    return std::make_unique<staging::OpeningFile>(staging::Folder(config.path()));
  };
  kind.check = [](const Settings& settings) { staging::check_engine(settings, read_stream(settings).engine); };
  registry.add(std::move(kind));
}
