#include "staging/writer.hpp"

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"
#include "staging/step_handover.hpp"

namespace sidestream::staging {

namespace {

Option variables_option() {
  Option option;
  option.name = "variables";
  option.type = OptionType::variable;
  option.list = true;
  option.text = "The variables to send; if left out all that are published, which derived ones are not.";
  return option;
}

Option ghosts_option() {
  Option option{.name = "ghosts", .type = OptionType::boolean, .default_value = "false"};
  option.text =
      "Whether arrays go as they were published, with ghosts, for endpoints that write these or take halos from them "
      "(`ghosts: filled` of a variable).";
  return option;
}

std::vector<std::int32_t> chosen(const Settings& settings, const Metadata& metadata, const StreamContext& context) {
  std::vector<std::int32_t> ids;
  if (context.decides) {
    if (context.variables) return *context.variables;
  } else if (settings.has("variables")) {
    for (const std::string& name : settings.texts("variables")) ids.push_back(metadata.find_variable(name)->id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }
  for (const Variable& variable : metadata.variables) {
    if (metadata.is_published(variable)) ids.push_back(variable.id);
  }
  return ids;
}

class StreamWriter final : public Task {
 public:
  StreamWriter(const Settings& settings, const Metadata& metadata, std::shared_ptr<StreamContext> context)
      : config_(read_stream(settings, context->when_full)), metadata_(metadata), context_(std::move(context)) {
    config_.group = context_->group;
    const auto& some = context_->with_ghosts;
    for (const std::int32_t id : with_mesh_arrays(chosen(settings, metadata, *context_), metadata)) {
      Selected& selected = selection_.variables.emplace_back(id);
      selected.completed = false;  // the endpoint completes
      selected.ghosts =
          context_->decides ? std::find(some.begin(), some.end(), id) != some.end() : settings.boolean("ghosts");
    }
    // The blocks of all servers determine which cells count.
    selection_.catalogue = config_.ranges && std::any_of(selection_.variables.begin(), selection_.variables.end(),
                                                         [&](const Selected& one) { return on_patches(one.variable); });
    if (config_.engine == "auto") config_.engine = context_->reads ? "files" : best_engine();
    if (context_->reads && config_.engine == "sst") {
      settings.fail("engine",
                    "found the engine 'sst' for a stream that leaves an endpoint, expected 'files': ADIOS2 can't "
                    "read one stream and write another in one process; leave 'engine' out");
    }
    check_engine(settings, config_.engine);
  }

  Selection selection() const override { return selection_; }

  Bytes local(const LocalInput&) override { return {}; }

  Bytes combine(const CombineInput& input) override {
    Answer answer;
    try {
      answer = hand_over(input);
    } catch (...) {  // on every server
      refuse();
      throw;
    }
    if (answer.outcome == Outcome::refused) refuse();
    if (!answer.message.empty()) throw Error(Code::analysis, answer.message);
    return {};
  }

  void discard(const Iteration&) noexcept override { refuse(); }

 private:
  [[nodiscard]] bool on_patches(std::int32_t variable) const {
    const Mesh& mesh = metadata_.mesh_of(metadata_.variables[static_cast<std::size_t>(variable)]);
    return !mesh.is_list() && !mesh.refinement.empty();
  }
  /// Refuses the iteration in placement `job`, where the reader decides on it. Elsewhere a stream is one output of
  /// several.
  void refuse() noexcept {
    if (context_->decides) refuse_iteration("no endpoint took it");
  }
  /// Copies nothing before a reader is known to exist.
  [[nodiscard]] Answer hand_over(const CombineInput& input) {
    const std::vector<Held> outgoing = held(*input.local);
    if (!offers_) open(input.communicator);
    context_->raised.assign(input.local->events.begin(), input.local->events.end());
    const Catalogue* const all = input.local->catalogue;
    return offers_->hand_over(input.iteration, outgoing, all ? std::span(all->blocks) : std::span<const Block>());
  }
  [[nodiscard]] std::vector<Held> held(const LocalInput& input) const {
    std::vector<Held> outgoing;
    for (const Selected& selected : selection_.variables) {
      for (const BlockView& view : input.of(selected.variable)) {
        if (view.copy || view.points.empty()) continue;
        outgoing.push_back({selected.variable, view, selected.ghosts ? view.array.box : view.points});
      }
    }
    return outgoing;
  }
  void open(Communicator& servers) {
    auto offers = std::make_unique<Offers>(config_, metadata_, *context_, servers);
    servers.barrier();  // all servers have one, or none has
    offers_ = std::move(offers);
  }

  StreamConfig config_;
  const Metadata& metadata_;
  std::shared_ptr<StreamContext> context_;
  Selection selection_;
  std::unique_ptr<Offers> offers_;
};

}  // namespace

WriterKind stream_output(std::shared_ptr<StreamContext> context) {
  WriterKind kind;
  kind.name = "stream";
  kind.text =
      "Hands each iteration to another MPI job, `sidestream endpoint`, and waits until that is done with it. "
      "The output's name is the stream's. docs/job.md says how.";
  // Every task has the option `name`; a stream uses the task's.
  kind.options = stream_options();
  std::erase_if(kind.options, [](const Option& option) { return option.name == "name"; });
  kind.options.push_back(variables_option());
  kind.options.push_back(ghosts_option());
  kind.create = [context = std::move(context)](const Settings& settings, const Metadata& metadata,
                                               std::shared_ptr<const OutputDirectory>) {
    return std::make_unique<StreamWriter>(settings, metadata, context);
  };
  return kind;
}

}  // namespace sidestream::staging
