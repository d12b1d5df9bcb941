// An analysis that only takes time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <sidestream/extend/plugin.hpp>
#include <sidestream/sidestream.hpp>
#include <thread>

/// An analysis that takes its time: `sleep: {variable: u, seconds: 0.1}`.
class Sleep final : public sidestream::Task {
 public:
  Sleep(double seconds, std::int32_t variable) : seconds_(seconds) { selection_.variables.push_back({variable, 0}); }
  [[nodiscard]] sidestream::Selection selection() const override { return selection_; }
  [[nodiscard]] sidestream::Bytes local(const sidestream::LocalInput&) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
    return {};
  }
  sidestream::Bytes combine(const sidestream::CombineInput&) override { return {}; }

 private:
  double seconds_;
  sidestream::Selection selection_;
};

/// Registers the analysis `sleep`.
inline void add_sleep(sidestream::Registry& registry) {
  sidestream::Option variable{"variable", sidestream::OptionType::variable},
      seconds{"seconds", sidestream::OptionType::real};
  variable.required = seconds.required = true;
  registry.add(sidestream::AnalysisKind{
      "sleep", "Sleeps.", {variable, seconds}, [](const sidestream::Settings& s, const sidestream::Metadata& m) {
        return std::make_unique<Sleep>(s.real("seconds"), m.find_variable(s.text("variable"))->id);
      }});
}
