#include "climate/cf/cf_output.hpp"
#include "climate/cf/netcdf_file.hpp"
#include "climate/cf/time_units.hpp"
#include "climate/kinds.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/writers/common_options.hpp"

namespace sidestream {

namespace {

struct NetcdfQuery {
  NamedVariables named{};
  std::string file{}, time_units{};
  OptionPairs precision{};
};

OptionTable<NetcdfQuery> netcdf_options() {
  return {variables_option(&NetcdfQuery::named),
          option<OptionType::file>("file", &NetcdfQuery::file, "Name of the file, one per iteration.",
                                   {.standard = "fields-{cycle:06}.nc"}),
          option("time_units", &NetcdfQuery::time_units,
                 "Unit of the simulation's time and its zero, as `seconds since 2000-01-01`. Variables then have a "
                 "dimension `time` of one entry. If left out, `time` is a single value without unit.",
                 {.standard = ""}),
          precision_option(&NetcdfQuery::precision, cf_forms(),
                           "Numbers of `quantise` are spread over the range of all values of the variable in the "
                           "iteration, and have the attributes scale_factor, add_offset and _FillValue (for NaN).")};
}

class NetcdfWriter final : public Task {
 public:
  NetcdfWriter(const Settings& settings, const Metadata& metadata, std::shared_ptr<const OutputDirectory> directory)
      : directory_(directory),
        pending_(directory),
        names_(directory),
        query_(netcdf_options().read(settings, metadata)),
        variables_(chosen_variables(query_.named, metadata)),
        output_(checked_layout(settings, metadata),
                AgreedForms(settings, query_.precision, variables_, metadata, cf_forms()), directory->writers()),
        files_(output_.layout(), query_.time_units, directory->provenance()),
        selection_(output_.selection(variables_, metadata)) {
    check_file_option(settings, query_.file, {".nc", ".nc4"});
    check_time_units(settings, query_.time_units);
  }

  Selection selection() const override { return selection_; }

  int passes() const override { return CfOutput::passes; }

  Bytes local(const LocalInput& input) override { return output_.local(input); }

  Bytes combine(const CombineInput& input) override {
    if (input.pass == 0) {
      path_ = names_.choose(query_.file, input.iteration);
      return output_.agree(input, pending_, [this](const auto& in, const CfShape& shape, const AgreedForms& forms) {
        const std::string temporary = pending_.begin(path_);
        std::vector<CfTarget> targets;
        for (const std::uint64_t place : files_.create(temporary, in.iteration, in.metadata, shape, forms)) {
          targets.push_back(place == 0 ? CfTarget{} : CfTarget{temporary, place});
        }
        return targets;
      });
    }
    output_.commit(input, pending_, [&] { pending_.enter(query_.file, input.iteration, path_); });
    names_.written(path_);
    return {};
  }

  void discard(const Iteration&) noexcept override { pending_.discard(); }

 private:
  [[nodiscard]] CfLayout checked_layout(const Settings& settings, const Metadata& metadata) const {
    check_cf(settings, metadata, variables_);
    return cf_layout(metadata, variables_);
  }

  std::shared_ptr<const OutputDirectory> directory_;
  PendingFiles pending_;
  FileNames names_;
  NetcdfQuery query_;
  std::vector<std::int32_t> variables_;
  CfOutput output_;
  NetcdfFiles files_;
  Selection selection_;
  std::string path_{};  ///< path in this iteration, between the passes
};

}  // namespace

WriterKind netcdf_writer() {
  WriterKind kind;
  kind.name = "netcdf";
  kind.text =
      "Writes one NetCDF-4 file per iteration by the conventions CF-1.11 and UGRID-1.0, for xarray, netCDF's tools, "
      "ParaView. Octrees and refinement levels, which CF does not have, are refused. docs/format-netcdf.md describes "
      "the files.";
  kind.options = netcdf_options().declarations();
  kind.create = [](const Settings& settings, const Metadata& metadata,
                   std::shared_ptr<const OutputDirectory> directory) {
    return std::make_unique<NetcdfWriter>(settings, metadata, std::move(directory));
  };
  return kind;
}

}  // namespace sidestream
