#include "storage/writers/kinds.hpp"

#include <algorithm>
#include <tuple>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/formats/metadata_file.hpp"

namespace sidestream {

namespace {

struct MetadataQuery {
  std::string file{};
  std::vector<Variable> ranges{};
};

OptionTable<MetadataQuery> metadata_options() {
  return {option<OptionType::file>("file", &MetadataQuery::file, "Name of the file, one per iteration.",
                                   {.standard = "metadata-{cycle:06}.yaml"}),
          option("ranges", &MetadataQuery::ranges,
                 "Variables whose smallest and largest values on each block are written, too, for all components.")};
}

class MetadataWriter final : public Task {
 public:
  MetadataWriter(const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory)
      : directory_(directory), pending_(directory), names_(directory) {
    const MetadataQuery query = metadata_options().read(settings, metadata);
    pattern_ = query.file;
    check_file_option(settings, pattern_, {".yaml", ".yml"});
    selection_.catalogue = true;
    for (const Variable& variable : query.ranges) {
      for (std::int32_t c = 0; c < variable.components; ++c) selection_.ranges.push_back({variable.id, c});
    }
  }

  Selection selection() const override { return selection_; }

  Bytes local(const LocalInput& input) override {
    if (input.catalogue == nullptr) {
      fail(Code::analysis,
           "the output 'metadata' got no list of all blocks, which this placement does not give yet; use "
           "another placement or remove the output");
    }
    path_ = names_.choose(pattern_, input.iteration);
    // Every server has the same list.
    if (input.server != 0) return {};
    try {
      write_file(pending_.begin(path_), metadata_text({input.iteration, input.metadata, chosen(*input.catalogue)}));
    } catch (...) {
      pending_.discard();
      throw;
    }
    return {};
  }

  Bytes combine(const CombineInput& input) override {
    pending_.commit(input.communicator, input.partials,
                    [&](const std::vector<Bytes>&) { pending_.enter(pattern_, input.iteration, path_); });
    names_.written(path_);
    return {};
  }

  void discard(const Iteration&) noexcept override { pending_.discard(); }

 private:
  /// Returns blocks and ranges in a fixed order, without ranges that only other tasks requested.
  [[nodiscard]] Catalogue chosen(const Catalogue& all) const {
    Catalogue result{all.global, all.blocks, {}};
    const auto before = [](const Block& a, const Block& b) {
      return std::pair(a.mesh, a.id) < std::pair(b.mesh, b.id);
    };
    std::sort(result.blocks.begin(), result.blocks.end(), before);
    const auto wanted = [&](const auto& r) {
      const RangeRequest request{r.variable, r.component};
      return std::find(selection_.ranges.begin(), selection_.ranges.end(), request) != selection_.ranges.end();
    };
    std::copy_if(all.ranges.begin(), all.ranges.end(), std::back_inserter(result.ranges), wanted);
    const auto key = [](const BlockRange& r) { return std::tuple(r.variable, r.component, r.block); };
    std::sort(result.ranges.begin(), result.ranges.end(),
              [&](const BlockRange& a, const BlockRange& b) { return key(a) < key(b); });
    std::copy_if(all.counted.begin(), all.counted.end(), std::back_inserter(result.counted), wanted);
    const auto place = [](const CountedRange& r) { return std::tuple(r.variable, r.component, r.block, r.beside); };
    std::sort(result.counted.begin(), result.counted.end(),
              [&](const CountedRange& a, const CountedRange& b) { return place(a) < place(b); });
    return result;
  }

  std::shared_ptr<const OutputDirectory> directory_;
  PendingFiles pending_;
  FileNames names_;
  std::string pattern_;
  std::string path_;  ///< path in this iteration, between local and combine
  Selection selection_;
};

}  // namespace

WriterKind metadata_writer() {
  WriterKind kind;
  kind.name = "metadata";
  kind.text =
      "Writes meshes, variables, blocks, and ranges of the named variables, without values. `sidestream plan` reads "
      "it. No block moves for it. docs/metadata.md describes the file.";
  kind.options = metadata_options().declarations();
  kind.create = [](const Settings& settings, const Metadata& metadata,
                   std::shared_ptr<const OutputDirectory> directory) {
    return std::make_unique<MetadataWriter>(settings, metadata, std::move(directory));
  };
  return kind;
}

}  // namespace sidestream
