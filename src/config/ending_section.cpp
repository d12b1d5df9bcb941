// The section `ending`: what tells a run to end, and how long ending may take.
#include <fmt/format.h>
#include <signal.h>

#include "config/config.hpp"
#include "config/opening.hpp"
#include "config/options/document.hpp"
#include "config/options/option_text.hpp"
#include "config/sections.hpp"

namespace sidestream {

namespace {

constexpr const char* end_of_job_text = "job";

/// The section as it is written.
struct EndingOptions {
  std::vector<int> signals;
  std::string limit, margin;
};

const OptionTable<EndingOptions>& ending_options() {
  static const OptionTable<EndingOptions> table{
      option<OptionType::choice>("signals", &EndingOptions::signals,
                                 "Signals that tell the run to end. On each rank the program's own handler still runs; "
                                 "where it has none, the signal does not end the process. Closing the session "
                                 "restores the earlier handlers.",
                                 {.choices = {{"TERM", SIGTERM},
                                              {"USR1", SIGUSR1},
                                              {"USR2", SIGUSR2},
                                              {"INT", SIGINT},
                                              {"HUP", SIGHUP},
                                              {"XCPU", SIGXCPU}}}),
      option("time_limit", &EndingOptions::limit,
             "Time after opening the session at which the run must be over: `24 h`, `90 min`, `3600 s`. `job`: the "
             "end of the batch job, from the environment variable SLURM_JOB_END_TIME of rank 0 at the open."),
      option("margin", &EndingOptions::margin,
             "Time that ending takes: the last iterations, the checkpoint, and closing. The run is told to end this "
             "long before its time limit, and must be over this long after a signal. Half of it is for "
             "iterations, half for the last checkpoint and closing; see [ending in order](ending.md#how-long).",
             {.required = true})};
  return table;
}

/// Seconds in the text of an option.
double seconds_of(const Settings& settings, const std::string& option, const std::string& also) {
  const std::string& text = settings.text(option);
  if (const std::optional<double> seconds = parse_seconds(text)) return *seconds;
  settings.fail(option, fmt::format("found '{}' for '{}', expected a time above 0; write '10 min', '24 h' or '90 s'{}",
                                    text, option, also));
}

}  // namespace

Section ending_section() {
  Option ending{.name = "ending", .type = OptionType::map};
  ending.text = "Tells the run to end in time.";
  ending.options = ending_options().declarations();
  return {"ending",
          SectionForm::option,
          "Ends the run in order at a signal or before a time limit: the program learns of its last iteration "
          "(`sidestream_should_end`), outputs `database` of the kind `checkpoint` run in it, and closing keeps to the "
          "time that is left. Without this section no signal is caught. See [ending in "
          "order](ending.md).",
          "ending: {signals: [TERM, USR1], time_limit: 24 h, margin: 10 min}",
          {ending}};
}

EndingConfig read_ending(const Document& document, const ReadContext& context) {
  EndingConfig ending;
  const Entry* const entry = document.root().find("ending");
  if (entry == nullptr || entry->value.kind == Node::Kind::null) return ending;
  const Settings settings = read_section(document, "ending", context);
  ending.signals = ending_options().read(settings).signals;
  ending.margin = seconds_of(settings, "margin", "");
  if (settings.given("time_limit")) {
    ending.end_of_job = settings.text("time_limit") == end_of_job_text;
    if (!ending.end_of_job) {
      ending.limit = seconds_of(settings, "time_limit", ", or 'job' for the end of the batch job");
      if (ending.limit <= ending.margin) {
        settings.fail("time_limit", fmt::format("found the time limit '{}' and the margin '{}', expected a longer time "
                                                "limit; change one of them",
                                                settings.text("time_limit"), settings.text("margin")));
      }
    }
  }
  if (ending.signals.empty() && !settings.given("time_limit")) {
    settings.fail("margin",
                  "found neither 'signals' nor 'time_limit', expected one of them; nothing would end the run");
  }
  return ending;
}

}  // namespace sidestream
