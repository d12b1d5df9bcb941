// Stored iterations: finding, selecting and opening them.
//
// 1. find, on rank 0: expands patterns in natural order, recognises formats by content, and keeps the iterations that
//    are asked for.
// 2. merge: joins the metadata of all; variables that differ between iterations are refused. Damaged files are left out
//    if options say so.
// 3. share (collective): all processes get the list and the metadata.
#include "analyse/sources.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <type_traits>

#include "analyse/merging.hpp"
#include "base/mpi/agree.hpp"
#include "client/declarations.hpp"
#include "loading.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/fields.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/names.hpp"
#include "storage/database/journal.hpp"
#include "storage/hdf5/input.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<analysing::StoredIteration> = 4;

}  // namespace sidestream

namespace sidestream::analysing {

namespace {

namespace fs = std::filesystem;

/// Natural order: digits compare as numbers, other characters as such: plt9 before plt10.
bool before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t first = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(first, at - first);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

/// The format named by an attribute of the root.
std::string format_of(const hdf5::InputFile& file) {
  if (!file.has_attribute("/", "format")) return {};
  const std::vector<std::string> texts = file.texts("/", "format");
  return texts.empty() ? std::string() : texts.front();
}

/// True if a file NAME-003.h5 is one server's part of another one in the list, NAME.h5.
bool is_part_of_one(const std::string& path, const std::vector<std::string>& names) {
  const fs::path file(path);
  const std::string stem = file.stem().string();
  const std::size_t dash = stem.find_last_not_of("0123456789");
  if (file.extension() != ".h5" || dash == std::string::npos || dash + 1 == stem.size() || stem[dash] != '-') {
    return false;
  }
  const std::string whole = (file.parent_path() / (stem.substr(0, dash) + ".h5")).string();
  if (std::find(names.begin(), names.end(), whole) == names.end() || !hdf5::is_hdf5(path)) return false;
  return format_of(hdf5::InputFile(path)) == "sidestream-blocks";
}

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> names;
  for (std::size_t n = 0; status == 0 && n < found.gl_pathc; ++n) names.emplace_back(found.gl_pathv[n]);
  ::globfree(&found);
  if (names.empty()) fail(Code::file, "no file matches '{}'; correct the pattern", pattern);
  std::stable_sort(names.begin(), names.end(), before);
  const std::vector<std::string> all = names;
  std::erase_if(names, [&](const std::string& name) { return is_part_of_one(name, all); });
  return names;
}

/// Lists the iterations of an HDF5 file, whose kind follows from attributes of its root.
StoredIterations iterations_of_hdf5(const std::string& path, Units units) {
  const hdf5::InputFile file(path);
  if (file.has_attribute("/", "openPMD")) return openpmd_iterations(path, units);
  const std::string format = format_of(file);
  if (format == "sidestream-fields") return fields_iterations(path);
  if (format == "sidestream-blocks") {
    fail(Code::file, "'{}' has the blocks of one server; name the file that shows all of them, without its number",
         path);
  }
  fail(Code::file,
       "'{}' is an HDF5 file of another program, with the arrays {}; say which of them is which variable: "
       "--describe FILE",
       path, listed(file.arrays("/")));
}

class Finder {
 public:
  Finder(Units units, const Description* description) : units_(units), description_(description) {}

  StoredIterations of(const std::string& path) {
    std::error_code problem;
    const fs::file_status status = fs::status(path, problem);
    if (!fs::exists(status)) fail(Code::file, "'{}' does not exist; correct the path", path);
    if (fs::is_directory(status)) return of_directory(path);
    if (!hdf5::is_hdf5(path)) {
      fail(Code::file, "'{}' is no HDF5 file; databases, plotfiles of AMReX and HDF5 files are read", path);
    }
    if (description_ != nullptr) return described_iterations(path, *description_, files_++);
    return iterations_of_hdf5(path, units_);
  }

 private:
  static StoredIterations of_directory(const std::string& path) {
    std::error_code problem;
    if (database::is_database(path)) return database_iterations(path);
    if (fs::exists(fs::path(path) / "Header", problem)) return plotfile_iterations(path);
    if (has_file(path, "info_", ".txt")) {
      fail(Code::file, "'{}' is an output of RAMSES; import it first: sidestream import ramses {} DATABASE", path,
           path);
    }
    if (fs::exists(fs::path(path) / "md.idx", problem)) {
      fail(Code::file, "'{}' is of ADIOS2, whose files are not read; write HDF5 (openPMD-api: a name ending in .h5)",
           path);
    }
    fail(Code::file, "'{}' is a directory, but neither a database nor a plotfile of AMReX (it has no file 'Header')",
         path);
  }

  /// True if a directory has a file with such a beginning and end.
  static bool has_file(const std::string& path, const std::string& begin, const std::string& end) {
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, problem)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(begin) && name.ends_with(end)) return true;
    }
    return false;
  }

  Units units_;
  const Description* description_;
  std::int64_t files_ = 0;
};

/// Set of requested numbers.
class Ranges {
 public:
  Ranges(const std::string& text, const char* option) : all_(text.empty()) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      add(text.substr(at, end - at), option);
      at = end + 1;
    }
  }
  [[nodiscard]] bool has(std::int64_t number) const {
    return all_ || std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& r) {
             return number >= r.from && number < r.to && (number - r.from) % r.step == 0;
           });
  }

 private:
  struct Range {
    std::int64_t from = 0, to = INT64_MAX, step = 1;
  };
  void add(const std::string& part, const char* option) {
    std::vector<std::optional<std::int64_t>> numbers;
    bool right = true;
    for (std::size_t at = 0; at <= part.size();) {
      const std::size_t end = std::min(part.find(':', at), part.size());
      std::int64_t number = 0;
      const auto read = std::from_chars(part.data() + at, part.data() + end, number);
      right = right && (at == end || (read.ec == std::errc() && read.ptr == part.data() + end));
      numbers.push_back(at == end ? std::nullopt : std::optional(number));
      at = end + 1;
    }
    const bool step = numbers.size() == 3 && numbers[2];
    if (!right || numbers.size() > 3 || (numbers.size() == 1 && !numbers[0]) || (step && *numbers[2] < 1)) {
      fail(Code::usage, "{}: found '{}', expected a number, FROM:TO or FROM:TO:STEP; write 3,10:20,100::10", option,
           part);
    }
    Range range{numbers[0].value_or(0)};
    if (numbers.size() == 1) range.to = range.from + 1;
    if (numbers.size() > 1) range.to = numbers[1].value_or(INT64_MAX);
    if (step) range.step = *numbers[2];
    ranges_.push_back(range);
  }

  bool all_;
  std::vector<Range> ranges_;
};

/// The result of `read`. If a file cannot be read and such files are to be skipped: nothing, and a line with the
/// reason.
template <class Read>
std::optional<std::invoke_result_t<Read>> readable(bool skip, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (!skip || error.code() != Code::file) throw;
    log::warning("left out: {}", error.what());
    return std::nullopt;
  }
}

}  // namespace

std::string StoredIteration::where() const {
  if (format == Format::database) return fmt::format("'{}', cycle {}", path, when.cycle);
  if (format == Format::openpmd) return fmt::format("'{}', iteration {}", path, when.cycle);
  return fmt::format("'{}'", path);
}

Sources::Sources(const SourceOptions& options, Communicator& all)
    : units_(options.units == "stored" ? Units::stored : Units::si) {
  std::string description;
  run_collectively(all, [&] {
    if (all.rank() == 0 && !options.describe.empty()) description = read_text(options.describe, "the description");
  });
  share_text(all, description);
  run_collectively(all, [&] {
    if (!options.describe.empty()) description_ = read_description(description, options.describe);
    if (all.rank() == 0) find(options);
  });
  share(all);
}

void Sources::find(const SourceOptions& options) {
  const Ranges iterations(options.iterations, "--iterations"), cycles(options.cycles, "--cycles");
  std::int64_t number = 0;
  Finder finder(units_, description_.get());
  const auto take = [&](const std::string& path) {
    const auto found = readable(options.skip_damaged, [&] { return finder.of(path); });
    lacks_some_ = lacks_some_ || !found;
    for (StoredIteration iteration : found.value_or(StoredIterations())) {
      if (iterations.has(number++) && cycles.has(iteration.when.cycle)) iterations_.push_back(std::move(iteration));
    }
  };
  for (const std::string& file : options.files) {
    std::error_code problem;
    const bool pattern = file.find_first_of("*?[") != std::string::npos && !fs::exists(file, problem);
    for (const std::string& path : pattern ? matching(file) : std::vector<std::string>{file}) take(path);
  }
  if (iterations_.empty()) {
    fail(Code::usage, "of the {} iterations of the files none is asked for; correct --iterations or --cycles", number);
  }
  merge(options);
}

void Sources::merge(const SourceOptions& options) {
  Merging merged;
  for (std::size_t n = 0; n < iterations_.size();) {
    const auto metadata = readable(options.skip_damaged, [&] { return open(n)->metadata(); });
    if (metadata) {
      merged.add(*metadata, iterations_[n++].where());
    } else {
      lacks_some_ = true;
      iterations_.erase(iterations_.begin() + static_cast<std::ptrdiff_t>(n));
    }
  }
  if (iterations_.empty()) fail(Code::file, "none of the iterations that are asked for can be read; see above");
  metadata_ = merged.result();
}

void Sources::share(Communicator& all) {
  Bytes places, declared;
  run_collectively(all, [&] {
    if (all.rank() != 0) return;
    ByteWriter out;
    write_fields(out, iterations_);
    places = out.take();
    Declarations declarations;
    declarations.metadata = metadata_;
    declared = declarations.encode();
  });
  all.broadcast(places, 0);
  all.broadcast(declared, 0);
  run_collectively(all, [&] {
    if (all.rank() == 0) return;
    ByteReader in(places);
    read_fields(in, iterations_);
    metadata_ = Declarations::decode(declared).metadata;
  });
}

std::unique_ptr<Snapshot> Sources::open(std::size_t number) const {
  const StoredIteration& iteration = iterations_.at(number);
  switch (iteration.format) {
    case Format::plotfile:
      return counted_from_zero(open_plotfile(iteration));
    case Format::fields:
      return counted_from_zero(open_fields(iteration));
    case Format::openpmd:
      return counted_from_zero(open_openpmd(iteration, units_));
    case Format::described:
      return counted_from_zero(open_described(iteration, *description_));
    case Format::database:
      break;
  }
  return counted_from_zero(open_database(iteration));
}

std::string Sources::contents() const {
  if (!description_) return {};
  const std::string& path = iterations_.front().path;
  return fmt::format("'{}' has the arrays {}", path, listed(hdf5::InputFile(path).arrays("/")));
}

}  // namespace sidestream::analysing
