// An analysis that lists the events that each server sees, and communicates once for each that all see:
// `watch: {variable: t, file: seen.csv}`.
#include <cstdint>
#include <cstring>
#include <memory>
#include <sidestream/extend/plugin.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using sidestream::Bytes;

class Watch final : public sidestream::Task {
 public:
  Watch(std::int32_t variable, std::string file) : variable_(variable), file_(std::move(file)) {}
  [[nodiscard]] sidestream::Selection selection() const override {
    return sidestream::Selection({sidestream::Selected(variable_)});
  }
  /// Lines `server,place,name,client,scope,raised,value,...`, with the number of events that all see before them.
  [[nodiscard]] Bytes local(const sidestream::LocalInput& input) override {
    static constexpr const char* scopes[] = {"server", "node", "all"};
    std::string text;
    std::int64_t place = 0, of_all = 0;
    for (const sidestream::Event& event : input.events) {
      of_all += event.scope == sidestream::EventScope::all;
      text += std::to_string(input.server) + " " + std::to_string(place++) + " " + event.name + " " +
              std::to_string(event.client) + " " + scopes[static_cast<int>(event.scope)] + " " +
              std::to_string(event.raised) + " " + std::string(name_of(event.type));
      std::vector<std::int64_t> values(event.type == sidestream::Type::int64 ? event.count() : 0);
      if (!values.empty()) std::memcpy(values.data(), event.values.data(), event.values.size());
      for (const std::int64_t value : values) text += " " + std::to_string(value);
      text += "\n";
    }
    Bytes partial(sizeof of_all + text.size());
    std::memcpy(partial.data(), &of_all, sizeof of_all);
    std::memcpy(partial.data() + sizeof of_all, text.data(), text.size());
    return partial;
  }
  Bytes combine(const sidestream::CombineInput& input) override {
    std::string mine;
    std::int64_t of_all = 0;
    for (const Bytes& partial : input.partials) {
      std::memcpy(&of_all, partial.data(), sizeof of_all);
      mine.append(reinterpret_cast<const char*>(partial.data()) + sizeof of_all, partial.size() - sizeof of_all);
    }
    std::int64_t total = 0;
    for (std::int64_t n = 0; n < of_all; ++n) {  // as a plug-in that reacts to each event: hangs if servers differ
      std::int64_t one = 1;
      input.communicator.sum(std::span(&one, 1));
      total += one;
    }
    if (total != of_all * input.communicator.size()) throw sidestream::Error(sidestream::Code::analysis, "out of step");
    std::vector<std::string> lines;
    for (const Bytes& bytes : input.communicator.gather(std::as_bytes(std::span(mine)), 0)) {
      std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
        lines.push_back(text.substr(at, end - at));
      }
    }
    input.results.add(file_, sidestream::Table(std::vector<sidestream::Column>{{"event", std::move(lines)}}));
    return {};
  }

 private:
  std::int32_t variable_;
  std::string file_;
};

}  // namespace

SIDESTREAM_PLUGIN(registry) {
  using sidestream::OptionType;
  sidestream::AnalysisKind kind;
  kind.name = "watch";
  kind.text = "Lists events.";
  kind.options = {{.name = "variable", .type = OptionType::variable, .required = true},
                  {.name = "file", .type = OptionType::file, .default_value = "seen.csv"}};
  kind.create = [](const sidestream::Settings& settings, const sidestream::Metadata& metadata) {
    return std::make_unique<Watch>(metadata.find_variable(settings.text("variable"))->id, settings.text("file"));
  };
  registry.add(std::move(kind));
}
