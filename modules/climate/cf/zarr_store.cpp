#include "climate/cf/zarr_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/json_object.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t bytes_at_once = std::size_t{1} << 20;
/// The arrays with entries of many iterations in a file, and the bytes of an entry. The last one has windows only.
constexpr std::array<std::pair<const char*, std::size_t>, 4> time_arrays{
    {{"time", 8}, {"cycle", 8}, {"iteration", 8}, {"time_bnds", 16}}};

/// Fills the file with NaN, before blocks that leave gaps are written.
void erase(int file, const std::string& path, const ZarrArray& array) {
  if (!is_real(array.type)) return;
  std::string many;
  while (many.size() < bytes_at_once)
    array.type == Type::float64 ? append_record(many, std::nan("")) : append_record(many, std::nanf(""));
  const std::uint64_t length = bytes_of_shard(array);
  for (std::uint64_t done = 0; done < length; done += many.size()) {
    write_at(file, path, done, std::string_view(many).substr(0, length - done));
  }
}

/// The number of iterations by the description of a store; 0 if it does not say.
std::size_t iterations_in(std::string_view text) {
  constexpr std::string_view before = R"("time": {"zarr_format": 3, "node_type": "array", "shape": [)";
  const std::size_t at = text.find(before);
  std::size_t count = 0;
  if (at != text.npos) std::from_chars(text.data() + at + before.size(), text.data() + text.size(), count);
  return count;
}

ZarrArray time_array(const char* name, Type type, const std::string& units, const std::string& long_name) {
  return {name, type, true, {}, 0, {}, {{"long_name", long_name}, {"units", units}}};
}

}  // namespace

ZarrStore::ZarrStore(std::shared_ptr<const OutputDirectory> directory, std::string path, const CfLayout& layout,
                     const ZarrCodecs& codecs, const Metadata& metadata, const std::string& time_units)
    : directory_(std::move(directory)), path_(std::move(path)), layout_(layout) {
  attributes_ = {{"Conventions", std::string("CF-1.11")},
                 {"title", std::string("Fields of a simulation")},
                 {"source", directory_->provenance()}};
  for (const Attribute& one : layout.attributes) set_attribute(attributes_, one.name, one.value);
  for (const CfArray& array : layout.arrays) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(array.variable)];
    const Box whole = cf_points(array, metadata, {});
    ZarrArray made{array.name, cf_type(array, metadata), true, {}, 1, array.dimensions, array.attributes, codecs};
    const int dimensions = metadata.mesh_of(variable).dimensions;
    for (int n = 0; n < dimensions; ++n) {
      made.shape.push_back(whole.extent(variable.order == Order::column ? dimensions - 1 - n : n));
    }
    const Index values = cf_values_of_point(array, metadata, {});
    if (made.dimensions.size() > made.shape.size()) made.shape.push_back(values);
    choose_chunks(made);
    arrays_.push_back(std::move(made));
  }
  const bool has_units = !time_units.empty();
  ZarrArray time = time_array("time", Type::float64, has_units ? time_units : "1", "time of the simulation");
  set_attribute(time.attributes, "axis", std::string("T"));
  if (has_units) set_attribute(time.attributes, "standard_name", std::string("time"));
  if (has_units) set_attribute(time.attributes, "calendar", std::string("standard"));
  arrays_.push_back(time);
  arrays_.push_back(time_array("cycle", Type::int64, "1", "cycle of the simulation"));
  arrays_.push_back(time_array("iteration", Type::int64, "1", "number of the publication"));
  for (const CfAxis& axis : layout.axes) {
    const auto count = static_cast<Index>(axis.positions.size());
    arrays_.push_back({axis.name, Type::float64, false, {count}, 1, {axis.name}, axis.attributes});
    if (axis.bounds.empty()) continue;
    arrays_.push_back({axis.name + "_bnds", Type::float64, false, {count, 2}, 1, {axis.name, "bnds"}, {}});
  }
}

std::string ZarrStore::file_of(const std::string& array, const std::string& key) const {
  return (fs::path(path_) / array / key).string();
}

/// Path of the next iteration's file.
std::string ZarrStore::shard_of(const std::string& array, std::size_t dimensions) const {
  std::string key = fmt::format("c.{}", iterations_.size());
  for (std::size_t n = 0; n < dimensions; ++n) key += ".0";
  return file_of(array, key);
}

std::string ZarrStore::describe(std::size_t iterations) const {
  JsonObject members;
  for (const ZarrArray& array : arrays_) members.add(array.name, json_of(array, iterations));
  JsonObject consolidated;
  consolidated.add("kind", std::string("inline")).add("must_understand", false).add("metadata", members);
  JsonObject root;
  root.add("zarr_format", 3)
      .add("node_type", std::string("group"))
      .add("attributes", json_of(attributes_))
      .add("consolidated_metadata", consolidated);
  return root.text() + "\n";
}

/// Continues the store of the run that this one resumes. Returns false if it has other arrays, or cannot be read.
bool ZarrStore::take_over() {
  iterations_.clear();
  const std::string text = read_file((fs::path(path_) / "zarr.json").string());
  try {
    const std::size_t count = iterations_in(text);
    if (describe(count) != text) return false;
    const ResumeFilter filter(*directory_, *first_);
    std::array<std::string, time_arrays.size()> chunks;
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t in_chunk = n % times_of_chunk;
      for (std::size_t a = 0; a < files_of_times() && in_chunk == 0; ++a) chunks[a] = read_file(file_of_times(a, n));
      Entry one;
      const auto get = [&](std::size_t a, void* value) {
        const std::size_t size = time_arrays[a].second;
        std::memcpy(value, chunks[a].substr(in_chunk * size, size).data(), size);
      };
      get(0, &one.iteration.time), get(1, &one.iteration.cycle), get(2, &one.iteration.index);
      if (has_window_) get(3, &one.window);
      if (!filter.keeps(one.iteration.index, one.iteration.cycle)) break;
      iterations_.push_back(one);
    }
    // Otherwise a reader would find iterations half replaced.
    if (iterations_.size() < count) {
      replace_file(*directory_, (fs::path(path_) / "zarr.json").string(), describe(iterations_.size()));
    }
  } catch (const std::exception& error) {
    log::warning("'{}' cannot be continued: {}", path_, error.what());
    iterations_.clear();
    return false;
  }
  return true;
}

void ZarrStore::begin() {
  if (has_window_ && arrays_.back().name != "time_bnds") {
    arrays_.push_back({"time_bnds", Type::float64, true, {2}, 0, {"bnds"}, {}});
    const auto time = std::ranges::find(arrays_, "time", &ZarrArray::name);
    set_attribute(time->attributes, "bounds", std::string("time_bnds"));
  }
  std::error_code error;
  const bool is_there = fs::exists(fs::symlink_status(fs::path(path_) / "zarr.json", error));
  if (is_there && !(directory_->resumes() && take_over())) {
    const std::string kept = free_version(path_);
    rename_file(path_, kept);
    log::info("'{}', which an earlier run left, is kept as '{}'", path_, kept);
  }
  write_axes();
  began_ = true;
}

/// Writes what never changes. Readers see it only after the first commit.
void ZarrStore::write_axes() const {
  for (const CfAxis& axis : layout_.axes) {
    const auto put = [&](const std::string& array, const std::vector<double>& values, const char* key) {
      const std::string path = file_of(array, key);
      make_directory_of(path);
      write_file(path, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
    };
    put(axis.name, axis.positions, "c.0");
    if (!axis.bounds.empty()) put(axis.name + "_bnds", axis.bounds, "c.0.0");
  }
}

std::vector<CfTarget> ZarrStore::make(const Iteration& iteration, const Metadata& metadata, const CfShape& shape,
                                      PendingFiles& pending) {
  const auto window = cf_window(layout_, metadata);
  next_ = {iteration, window.value_or(std::array<double, 2>{})};
  if (!first_) has_window_ = window.has_value();
  if (!first_) first_ = iteration;
  if (!began_) begin();
  std::vector<CfTarget> targets;
  for (std::size_t n = 0; n < layout_.arrays.size(); ++n) {
    const ZarrArray& array = arrays_[n];
    const std::string path = shard_of(array.name, array.shape.size());
    if (shape.counts[n] < 0) {
      std::error_code ignored;
      fs::remove(path, ignored);  // left by a killed run, or of iterations that this run replaces
      targets.emplace_back();
      continue;
    }
    const std::string temporary = pending.begin(path);
    OutputFile(temporary).close();
    targets.push_back({temporary, 0});
    if (array.codecs.any()) continue;  // who writes the chunks knows their places
    const Descriptor file(open_existing(temporary, O_WRONLY));
    if (file.get() < 0) fail_file("open", temporary, errno);
    if (shape.counts[n] < cf_points(layout_.arrays[n], metadata, {}).count()) erase(file.get(), temporary, array);
    write_at(file.get(), temporary, bytes_of_shard(array), index_of_shard(array));
  }
  return targets;
}

std::size_t ZarrStore::files_of_times() const { return time_arrays.size() - (has_window_ ? 0 : 1); }

/// The file that has entry n of such an array.
std::string ZarrStore::file_of_times(std::size_t array, std::size_t n) const {
  return file_of(time_arrays[array].first, fmt::format("c.{}{}", n / times_of_chunk, array == 3 ? ".0" : ""));
}

void ZarrStore::commit(PendingFiles& pending) {
  iterations_.push_back(next_);
  const std::size_t last = iterations_.size() - 1, first = last / times_of_chunk * times_of_chunk;
  std::array<std::string, time_arrays.size()> chunks;
  for (std::size_t n = first; n < first + times_of_chunk; ++n) {
    const Entry one = n <= last ? iterations_[n] : Entry{};
    append_record(chunks[0], one.iteration.time);
    append_record(chunks[1], one.iteration.cycle);
    append_record(chunks[2], one.iteration.index);
    append_record(chunks[3], one.window);
  }
  for (std::size_t a = 0; a < files_of_times(); ++a) {
    pending.place(file_of_times(a, last), [&](const std::string& temporary) { write_file(temporary, chunks[a]); });
  }
  const std::string root = (fs::path(path_) / "zarr.json").string();
  pending.place(root, [&](const std::string& temporary) { write_file(temporary, describe(iterations_.size())); });
  describe_arrays();
}

/// Replaces the description of each array, for readers of single ones. No name is replaced before all are written, so a
/// full disk leaves the earlier ones.
void ZarrStore::describe_arrays() const {
  std::vector<std::string> paths;
  try {
    for (const ZarrArray& array : arrays_) {
      if (iterations_.size() > 1 && !array.over_time) continue;
      paths.push_back(file_of(array.name, "zarr.json"));
      write_file(directory_->temporary(paths.back()), json_of(array, iterations_.size()).text() + "\n");
    }
    for (const std::string& path : paths) rename_file(directory_->temporary(path), path);
  } catch (...) {
    for (const std::string& path : paths) directory_->discard(path);
    throw;
  }
}

void ZarrStore::drop() noexcept {
  const auto is_next = [&](const Iteration& one) {
    return one.index == next_.iteration.index && one.cycle == next_.iteration.cycle;
  };
  if (!iterations_.empty() && is_next(iterations_.back().iteration)) iterations_.pop_back();
}

}  // namespace sidestream
