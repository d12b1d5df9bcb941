// Analyses written in C: tables of functions (TableAnalysis), and functions of a program (FunctionAnalysis).
#include "session/c/c_analysis.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "session/c/c_session.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// Callbacks never write the last character: they may fill their whole buffer without a terminating zero.
using MessageText = std::array<char, SIDESTREAM_MESSAGE_BYTES + 1>;

std::string text_or_empty(const char* text) { return text ? text : ""; }

Option option_of(const sidestream_option& given, const std::string& analysis) {
  if (!given.name) fail(Code::usage, "the analysis '{}' has an option without name; give it one", analysis);
  constexpr std::array types{OptionType::boolean, OptionType::integer,  OptionType::real,
                             OptionType::text,    OptionType::choice,   OptionType::bytes,
                             OptionType::file,    OptionType::variable, OptionType::mesh};
  const auto type = static_cast<std::size_t>(given.type);
  if (type >= types.size()) {
    fail(Code::usage, "the option '{}' of the analysis '{}' has the type {}, expected a sidestream_option_type",
         given.name, analysis, type);
  }
  if (given.list != 0 && given.type == SIDESTREAM_OPTION_BOOLEAN) {
    fail(Code::usage, "the option '{}' of the analysis '{}' is a list of booleans, expected another type", given.name,
         analysis);
  }
  Option option;
  option.name = given.name;
  option.type = types[type];
  option.list = given.list != 0;
  option.required = given.required != 0;
  option.default_value = text_or_empty(given.default_value);
  option.text = text_or_empty(given.text);
  for (const char* const* choice = given.choices; choice && *choice; ++choice) option.choices.emplace_back(*choice);
  if (given.minimum) option.minimum = *given.minimum;
  if (given.maximum) option.maximum = *given.maximum;
  return option;
}

std::vector<Option> options_of(const sidestream_analysis& table) {
  std::vector<Option> options;
  const auto* at = reinterpret_cast<const std::byte*>(table.options);
  for (std::size_t n = 0; n < table.option_count; ++n, at += table.option_bytes) {
    options.push_back(option_of(taken<sidestream_option>(at, table.option_bytes), table.name));
  }
  return options;
}

/// The argument of a callback, and the entries for sidestream_input_entry.
class View {
 public:
  View(const Iteration& iteration, const Metadata& metadata, const LocalInput* local, const CombineInput* combine)
      : all_{&iteration, &metadata, local, combine}, entries_(local ? local->entries.size() : 0, all_) {
    for (std::size_t n = 0; n < entries_.size(); ++n) entries_[n].entry = static_cast<std::int64_t>(n);
    all_.entries = entries_.data();
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  [[nodiscard]] const sidestream_input* get() const noexcept { return &all_; }

 private:
  sidestream_input all_;
  std::vector<sidestream_input> entries_;
};

/// An analysis for one entry of the configuration.
class TableAnalysis final : public Task {
 public:
  TableAnalysis(const sidestream_analysis& table, const std::string& name, const std::vector<Option>& options,
                const Settings& settings, const Metadata& metadata)
      : table_(table), name_(name), settings_(settings) {
    MessageText message{};
    const sidestream_settings view{&settings_, &options, &texts_};
    const sidestream_metadata declared{&metadata};
    if (table_.create && table_.create(&view, &declared, table_.user, &object_, message.data()) != 0) {
      fail_at_entry(message);
    }
    try {
      select(metadata);
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~TableAnalysis() override { destroy(); }
  TableAnalysis(const TableAnalysis&) = delete;
  TableAnalysis& operator=(const TableAnalysis&) = delete;

  [[nodiscard]] Selection selection() const override { return selection_; }
  [[nodiscard]] double tolerance() const override { return table_.tolerance; }
  [[nodiscard]] int passes() const override { return passes_; }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    MessageText message{};
    sidestream_bytes partial;
    const View view(input.iteration, input.metadata, &input, nullptr);
    check("local", table_.local(object_, view.get(), &partial, message.data()), message, {});
    return std::move(partial.bytes);
  }

  Bytes combine(const CombineInput& input) override {
    MessageText message{};
    sidestream_bytes feedback;
    sidestream_results results{&input.results, &input.communicator};
    const View view(input.iteration, input.metadata, input.local, &input);
    const int code = table_.combine(object_, view.get(), &results, &feedback, message.data());
    check("combine", code, message, results.problem);
    return std::move(feedback.bytes);
  }

 private:
  void destroy() noexcept {
    if (table_.destroy) table_.destroy(object_);
  }

  [[noreturn]] void fail_at_entry(const MessageText& message) const {
    const std::string place = settings_.where().text();
    fail(Code::configuration, "{}{}'{}': {}", place, place.empty() ? "" : ": ", name_,
         message[0] ? message.data() : "it was refused without a message");
  }

  void select(const Metadata& metadata) {
    MessageText message{};
    sidestream_selection wanted{&metadata, {}, {}};
    const int code = table_.select(object_, &wanted, &passes_, message.data());
    if (code != 0 && message[0]) fail_at_entry(message);
    if (code != 0 || !wanted.problem.empty()) {
      std::strncpy(message.data(), wanted.problem.c_str(), message.size() - 1);
      fail_at_entry(message);
    }
    if (passes_ < 1) {
      fail(Code::usage, "the analysis '{}' wants {} passes, expected at least 1; correct its 'select'", name_, passes_);
    }
    selection_ = std::move(wanted.selection);
  }

  void check(const char* callback, int code, const MessageText& message, const std::string& problem) const {
    if (code == 0) return;
    const std::string why = message[0] ? message.data() : problem.empty() ? "(no message)" : problem;
    fail(Code::analysis, "'{}' of the analysis '{}' returned {}: {}", callback, name_, code, why);
  }

  sidestream_analysis table_;  ///< its texts belong to the caller and may be gone
  std::string name_;
  Settings settings_;
  std::deque<std::string> texts_;
  void* object_ = nullptr;
  int passes_ = 1;
  Selection selection_;
};

}  // namespace

AnalysisKind kind_of(const sidestream_analysis& given) {
  constexpr std::size_t least = offsetof(sidestream_analysis, combine) + sizeof(given.combine);
  if (given.struct_size < least) {
    fail(Code::usage, "an analysis has struct_size {}, expected at least {}; set it to sizeof(sidestream_analysis)",
         given.struct_size, least);
  }
  const auto table = taken<sidestream_analysis>(&given, given.struct_size);
  if (!table.name || !*table.name) fail(Code::usage, "an analysis has no name; give it one");
  for (const auto& [there, name] :
       {std::pair(table.select != nullptr, "select"), std::pair(table.local != nullptr, "local"),
        std::pair(table.combine != nullptr, "combine")}) {
    if (!there) fail(Code::usage, "'{}' of the analysis '{}' is NULL; expected a function", name, table.name);
  }
  constexpr std::size_t least_option = offsetof(sidestream_option, maximum) + sizeof(double*);
  if (table.option_count > 0 && (!table.options || table.option_bytes < least_option)) {
    fail(Code::usage,
         "the analysis '{}' has {} options {}; set 'options' to them and 'option_bytes' to "
         "sizeof(sidestream_option)",
         table.name, table.option_count,
         table.options ? fmt::format("of {} bytes", table.option_bytes) : std::string("at NULL"));
  }
  AnalysisKind kind;
  kind.name = table.name;
  kind.text = text_or_empty(table.text);
  kind.options = options_of(table);
  kind.any_partials = table.own_partial == 0;
  kind.create = [table, name = kind.name, options = kind.options](const Settings& settings,
                                                                  const Metadata& metadata) -> std::unique_ptr<Task> {
    return std::make_unique<TableAnalysis>(table, name, options, settings, metadata);
  };
  return kind;
}

void register_c_plugin(const void* header, Registry& registry) {
  const auto* plugin = static_cast<const sidestream_c_plugin_header*>(header);
  if (!plugin || plugin->magic != SIDESTREAM_C_PLUGIN_MAGIC) {
    fail(Code::usage, "its sidestream_c_plugin() does not return a plug-in header; define it with SIDESTREAM_C_PLUGIN");
  }
  if (plugin->version != SIDESTREAM_C_PLUGIN_VERSION) {
    fail(Code::usage, "it was built for version {} of the C interface, expected {}; build it again", plugin->version,
         SIDESTREAM_C_PLUGIN_VERSION);
  }
  for (std::uint32_t n = 0; n < plugin->count; ++n) {
    if (!plugin->analyses[n]) fail(Code::usage, "number {} of its analyses is NULL; expected a table", n);
    registry.add(kind_of(*plugin->analyses[n]));
  }
}

}  // namespace sidestream

extern "C" int sidestream_register_analysis(sidestream_session* session, const sidestream_analysis* analysis) {
  return sidestream::guarded(session, "register_analysis", {{analysis, "analysis"}},
                             [&](sidestream::Session& s) { s.registry().add(sidestream::kind_of(*analysis)); });
}

namespace sidestream {

namespace {

constexpr std::size_t message_bytes = 512 + 1;  // the last character stays 0; the function must not write it

void check(int code, const std::array<char, message_bytes>& message) {
  if (code == 0) return;
  fail(Code::analysis, "the program's function returned {}: {}", code, message[0] ? message.data() : "(no message)");
}

class FunctionAnalysis final : public Task {
 public:
  FunctionAnalysis(const sidestream_function& function, Selection selection)
      : function_(function), selection_(std::move(selection)) {}

  [[nodiscard]] Selection selection() const override { return selection_; }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    Bytes partial(function_.partial_bytes);
    std::array<char, message_bytes> message{};
    const sidestream_input view{&input.iteration, &input.metadata, &input, nullptr};
    check(function_.local(&view, partial.data(), message.data(), function_.user), message);
    return partial;
  }

  Bytes combine(const CombineInput& input) override {
    if (!function_.combine) return {};
    Bytes partial = merged(input);
    std::array<char, message_bytes> message{};
    const sidestream_input view{&input.iteration, &input.metadata, input.local, &input};
    const MPI_Comm servers = *static_cast<MPI_Comm*>(input.communicator.native());
    check(function_.combine(&view, partial.data(), servers, message.data(), function_.user), message);
    return {};
  }

 private:
  /// Merges all partials into one. Without any, no forwarder reports to this server, which then has no blocks.
  [[nodiscard]] Bytes merged(const CombineInput& input) {
    if (input.partials.empty()) {
      const std::vector<std::vector<BlockView>> none(input.metadata.variables.size());
      return local({input.iteration, input.metadata, none, input.pass, {}, nullptr});
    }
    Bytes partial = input.partials.front();
    for (const Bytes& other : input.partials.subspan(1)) {
      if (!function_.merge) fail(Code::internal, "several partials came for a function without `merge`");
      std::array<char, message_bytes> message{};
      check(function_.merge(partial.data(), other.data(), message.data(), function_.user), message);
    }
    return partial;
  }

  sidestream_function function_;
  Selection selection_;
};

}  // namespace

}  // namespace sidestream

extern "C" int sidestream_register_function(sidestream_session* session, const sidestream_function* function) {
  return sidestream::guarded(session, "register_function", {{function, "function"}}, [&](sidestream::Session& s) {
    using namespace sidestream;
    if (function->struct_size < offsetof(sidestream_function, combine)) {
      fail(Code::usage, "register_function: struct_size is {}; set it to sizeof(sidestream_function)",
           function->struct_size);
    }
    need(function->name, "register_function", "name");
    if (!function->local)
      fail(Code::usage, "register_function: local of '{}' is NULL; expected a function", function->name);
    const auto own = taken<sidestream_function>(function, function->struct_size);
    AnalysisKind kind;
    kind.name = function->name;
    kind.text = "A function of the program.";
    kind.any_partials = own.merge || !own.combine;
    Option variables{"variables", OptionType::variable, true};
    variables.required = true;
    variables.least_entries = 1;
    variables.text = "Variables that the function reads.";
    kind.options = {variables};
    kind.create = [own](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
      Selection selection;
      for (const std::string& name : settings.texts("variables")) {
        selection.variables.push_back({metadata.find_variable(name)->id, 0});
      }
      return std::make_unique<FunctionAnalysis>(own, std::move(selection));
    };
    s.registry().add(std::move(kind));
  });
}
