#include "storage/results/picture_files.hpp"

#include <filesystem>
#include <utility>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/formats/csv.hpp"

namespace sidestream {
namespace {

namespace fs = std::filesystem;

constexpr const char* table_name = "data.csv";
constexpr const char* ending = ".png";

/// Names contain the cycle, which a resumed run continues.
std::string pattern_of(const std::string& database, const std::string& name) {
  return database + "/image/{cycle:08}" + (name.empty() ? "" : "/" + name) + ending;
}

/// The pictures that a table lists, if their names follow this writer's pattern.
std::vector<fs::path> listed_in(const fs::path& database) {
  std::vector<fs::path> pictures;
  bool first = true;
  for_each_record((database / table_name).string(), [&](const CsvRecord& record) {
    const fs::path name = fs::path(record.fields.back()).lexically_normal();
    if (!std::exchange(first, false) && !name.empty() && *name.begin() == "image" && name.extension() == ending) {
      pictures.push_back(database / name);
    }
  });
  return pictures;
}

}  // namespace

std::string PictureFiles::add(const std::string& database, const std::string& name, const Iteration& iteration,
                              const Image& picture) {
  const auto format = formats_->find(ending);
  if (format == formats_->end() || !format->second.image) {
    fail(Code::configuration, "the pictures of '{}' need the format '{}', which is not there", database, ending);
  }
  const std::string path = names_.choose(pattern_of(database, name), iteration);
  replace_file(*directory_, path, [&](const std::string& temporary) {
    format->second.image(temporary, picture, directory_->provenance());
  });
  names_.written(path);
  return fs::path(path).lexically_relative(directory_->path(database, iteration, 0)).generic_string();
}

void PictureFiles::list(const std::string& database, const Iteration& iteration, const Table& rows,
                        const Iteration& first) {
  tables_->append(cinema_format(), database + "/" + table_name, iteration, rows, first);
}

void remove_pictures(const std::string& database) {
  std::error_code error;
  const fs::path root(database), table = root / table_name;
  if (!fs::is_regular_file(fs::symlink_status(table, error))) return;
  std::vector<fs::path> removed;
  try {
    removed = listed_in(root);
  } catch (const std::exception& failure) {
    log::warning("'{}' of an earlier run cannot be read, and the pictures that it lists stay: {}", table.string(),
                 failure.what());
  }
  for (const fs::path& picture : removed) {
    fs::remove(picture, error);
    fs::remove(picture.parent_path(), error);  // fails unless it is empty
  }
  fs::remove(hidden_beside(table.string(), ".committed"), error);
  fs::remove(table, error);
  if (error)
    log::warning("'{}' of an earlier run stays, though this run replaces it: {}", table.string(),
                 system_text(error.value()));
}

}  // namespace sidestream
