// An analysis that steers: `setter: {variable: t, set_every: 5, stop_at: 40}`.
#include <cstdint>
#include <memory>
#include <sidestream/extend/plugin.hpp>

namespace {

using sidestream::Bytes;

/// Sets `interval` every `set_every` iterations, and `stop` at one of them.
class Setter final : public sidestream::Task {
 public:
  Setter(std::int64_t every, std::int64_t stop_at, std::int32_t variable)
      : every_(every), stop_at_(stop_at), variable_(variable) {}
  [[nodiscard]] sidestream::Selection selection() const override {
    sidestream::Selection selection;
    selection.variables.emplace_back(variable_);
    return selection;
  }
  [[nodiscard]] Bytes local(const sidestream::LocalInput&) override { return {}; }
  Bytes combine(const sidestream::CombineInput& input) override {
    const std::int64_t now = input.iteration.index;
    if (every_ > 0 && now / every_ > last_) {
      last_ = now / every_;
      input.steering->set("interval", static_cast<double>(now) + 1);
    }
    if (stop_at_ > 0 && now >= stop_at_) input.steering->set("stop", std::int64_t{1});
    return {};
  }

 private:
  std::int64_t every_, stop_at_, last_ = 0;
  std::int32_t variable_;
};

}  // namespace

SIDESTREAM_PLUGIN(registry) {
  using sidestream::OptionType;
  registry.add(sidestream::AnalysisKind{
      "setter",
      "Sets parameters.",
      {{.name = "variable", .type = OptionType::variable, .required = true},
       {.name = "set_every", .type = OptionType::integer, .default_value = "0"},
       {.name = "stop_at", .type = OptionType::integer, .default_value = "0"}},
      [](const sidestream::Settings& s, const sidestream::Metadata& m) -> std::unique_ptr<sidestream::Task> {
        return std::make_unique<Setter>(s.integer("set_every"), s.integer("stop_at"),
                                        m.find_variable(s.text("variable"))->id);
      }});
}
