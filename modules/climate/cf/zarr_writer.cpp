#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "climate/cf/cf_output.hpp"
#include "climate/cf/time_units.hpp"
#include "climate/cf/zarr_chunks.hpp"
#include "climate/cf/zarr_codecs.hpp"
#include "climate/cf/zarr_store.hpp"
#include "climate/kinds.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/writers/common_options.hpp"

namespace sidestream {

namespace {

struct ZarrQuery {
  NamedVariables named{};
  std::string directory{}, time_units{};
  ZarrCodecs codecs{};
};

OptionTable<ZarrQuery> zarr_options() {
  return {
      variables_option(&ZarrQuery::named),
      option<OptionType::file>("directory", &ZarrQuery::directory,
                               "The directory of the store, in the output directory.", {.standard = "fields.zarr"}),
      option("time_units", &ZarrQuery::time_units,
             "Unit of the simulation's time and its zero, as `seconds since 2000-01-01`. If left out, `time` has no "
             "unit.",
             {.standard = ""}),
      options_of(&ZarrQuery::codecs, zarr_codec_options())};
}

class ZarrWriter final : public Task {
 public:
  ZarrWriter(const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory)
      : pending_(directory),
        query_(zarr_options().read(settings, metadata)),
        variables_(chosen_variables(query_.named, metadata)),
        output_(checked_layout(settings, metadata), AgreedForms(settings, {}, variables_, metadata, cf_forms()),
                directory->writers(), together()),
        store_(directory, directory->path(query_.directory, {}, 0), output_.layout(), query_.codecs, metadata,
               query_.time_units),
        chunks_(output_, store_.arrays(), directory->writers()),
        selection_(output_.selection(variables_, metadata)) {
    check_time_units(settings, query_.time_units);
    if (query_.directory.find('{') != std::string::npos) {
      settings.fail("directory", fmt::format("the name '{}' differs between iterations, but a store has all of them; "
                                             "leave the braces out",
                                             query_.directory));
    }
    for (const ZarrArray& array : store_.arrays()) check_size(settings, array);
  }

  Selection selection() const override { return selection_; }
  int passes() const override { return CfOutput::passes; }
  Bytes local(const LocalInput& input) override { return output_.local(input); }

  Bytes combine(const CombineInput& input) override {
    if (input.pass == 0) {
      return output_.agree(input, pending_, [this](const auto& in, const CfShape& shape, const AgreedForms&) {
        return store_.make(in.iteration, in.metadata, shape, pending_);
      });
    }
    try {
      output_.commit(input, pending_, [&] { store_.commit(pending_); });
    } catch (...) {
      store_.drop();
      throw;
    }
    return {};
  }

  void discard(const Iteration&) noexcept override { pending_.discard(); }

 private:
  /// Encoded chunks have no place of their own.
  [[nodiscard]] CfOutput::Together together() const {
    if (!query_.codecs.any()) return {};
    return [this](const CombineInput& input, const CfAgreement& agreement) { return chunks_.write(input, agreement); };
  }

  void check_size(const Settings& settings, const ZarrArray& array) const {
    if (!query_.codecs.shuffle || array.in_chunk == 0) return;
    const std::uint64_t bytes = bytes_of_shard(array) / chunks_of_shard(array);
    if (bytes <= most_shuffled) return;
    settings.fail("shuffle", fmt::format("found `shuffle` for '{}', whose planes have {} bytes, expected at most {}, "
                                         "the most that a frame of Blosc can have; leave `shuffle` out",
                                         array.name, bytes, most_shuffled));
  }

  [[nodiscard]] CfLayout checked_layout(const Settings& settings, const Metadata& metadata) const {
    check_cf(settings, metadata, variables_);
    for (const std::int32_t id : variables_) {
      const Variable& variable = metadata.variables[static_cast<std::size_t>(id)];
      if (!metadata.mesh_of(variable).is_list()) continue;
      settings.fail("variables",
                    fmt::format("the variable '{}' is on the mesh '{}', whose lists may change their lengths, which "
                                "arrays over time cannot; use the output 'netcdf' or 'hdf5', or name other variables",
                                variable.name, metadata.mesh_of(variable).name));
    }
    return cf_layout(metadata, variables_);
  }

  PendingFiles pending_;
  ZarrQuery query_;
  std::vector<std::int32_t> variables_;
  CfOutput output_;
  ZarrStore store_;
  ZarrChunks chunks_;
  Selection selection_;
};

}  // namespace

WriterKind zarr_writer() {
  WriterKind kind;
  kind.name = "zarr";
  kind.text =
      "Writes one Zarr store (version 3) that grows with each iteration, by the CF conventions: an array per variable, "
      "with time as first dimension and a file (shard) per iteration. Octrees, refinement levels and lists are "
      "refused. docs/format-zarr.md describes the store.";
  kind.options = zarr_options().declarations();
  kind.create = [](const Settings& settings, const Metadata& metadata,
                   std::shared_ptr<const OutputDirectory> directory) {
    return std::make_unique<ZarrWriter>(settings, metadata, std::move(directory));
  };
  return kind;
}

}  // namespace sidestream
