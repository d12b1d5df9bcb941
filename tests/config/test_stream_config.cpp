// The options of streams under `placement`, with free pairs of names and values among them.
#include "config/stream_config.hpp"

#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

OpeningConfig opening(const std::string& stream) {
  return read_opening(*parse_document("placement: {mode: job, when_full: skip, stream: " + stream + "}", "run.yaml"));
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read_stream(read_opening(*parse_document(text, "run.yaml")).placement.stream));
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a stream has defaults, and the placement's when_full") {
  const OpeningConfig config = opening("{}");
  CHECK(config.placement.mode == PlacementMode::job);
  const StreamConfig stream = read_stream(config.placement.stream, config.placement.when_full);
  CHECK(stream.path() == "streams/stream");
  CHECK(stream.engine == "auto");
  CHECK(stream.when_full == WhenFull::skip);
  CHECK(stream.reader_limit == 60);
  CHECK(stream.parameters.empty());
}

TEST_CASE("engine parameters pass through as they are written") {
  const OpeningConfig config =
      opening("{name: a, directory: b, when_full: wait, parameters: {DataTransport: WAN, Limit: 007, Flag: true}}");
  const StreamConfig stream = read_stream(config.placement.stream, config.placement.when_full);
  CHECK(stream.path() == "b/a");
  CHECK(stream.when_full == WhenFull::wait);
  CHECK(stream.parameters ==
        std::map<std::string, std::string>{{"DataTransport", "WAN"}, {"Limit", "007"}, {"Flag", "true"}});
}

TEST_CASE("errors get a sentence") {
  CHECK(refusal("placement: {mode: job, stream: {parameters: {a: [1]}}}").find("found a list for 'a'") !=
        std::string::npos);
  CHECK(refusal("placement: {mode: job, stream: {parameters: 3}}").find("write parameters: {name: value") !=
        std::string::npos);
  CHECK(refusal("placement: {mode: job, stream: {name: a/b}}").find("name of a folder") != std::string::npos);
  CHECK(refusal("placement: {mode: job, stream: {directory: ''}}").find("empty 'directory'") != std::string::npos);
  CHECK(refusal("placement: {mode: cores, stream: {name: a}}").find("expected it with 'job' only") !=
        std::string::npos);
  CHECK(refusal("placement: {mode: job, servers: 2}").find("found 'servers' with the mode 'job'") != std::string::npos);
  CHECK(refusal("placement: {mode: job, stream: {reader_limit: 0}}").find("at least 1") != std::string::npos);
  CHECK(refusal("placement: {mode: job, stream: {engine: files, parameters: {DataTransport: WAN}}}")
            .find("found 'parameters' for the engine 'files'") != std::string::npos);
}
