// Functions of a C program as an analysis.
#include "session/c/c_analysis.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "session/c/c_session.hpp"
#include "sidestream/kit/base/fail.hpp"

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
  return sidestream::guarded(session, "register_function", [&](sidestream::Session& s) {
    using namespace sidestream;
    need(function, "register_function", "function");
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
