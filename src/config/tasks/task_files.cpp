// File names of tasks, which are checked before a run begins.
//
// 1. files_of: the names that options give, or their defaults.
// 2. check_task_files: no two tasks write one file; the ending has a format that fits; no name is one of Sidestream's
//    own or a database's; no two series share an index. Names that coincide in some iterations only are found by
//    expanding the first ones.
// 3. check_resumed_files: a run that resumes counts {index} from 0 again, so names need {cycle} or {time}.
#include "config/tasks/tasks.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "config/reserved_file_names.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/data/file_pattern.hpp"

namespace sidestream {

namespace {

/// True if all maps of a list give a file of this name, which stand for the default of the whole.
bool is_replaced(const Option& file, const Settings& settings, const std::vector<Option>& options) {
  return !settings.given(file.name) && std::ranges::any_of(options, [&](const Option& other) {
    const auto same = [&](const Option& inner) { return inner.type == file.type && inner.name == file.name; };
    if (other.type != OptionType::map || !other.list || std::ranges::none_of(other.options, same)) return false;
    const std::vector<Settings> maps = settings.maps(other.name);
    return !maps.empty() && std::ranges::all_of(maps, [&](const Settings& one) { return one.given(file.name); });
  });
}

/// One text per place, however it is written: `./db/` is `db`, and so is `/results/db` if results are in `/results`.
std::string place_of(const std::filesystem::path& pattern, const std::string& results) {
  std::filesystem::path path = pattern.lexically_normal();
  if (path.is_absolute()) {
    const std::filesystem::path inside = path.lexically_relative(std::filesystem::path(results).lexically_normal());
    if (!inside.empty() && *inside.begin() != "..") path = inside;
  }
  if (!path.has_filename() && path.has_parent_path()) path = path.parent_path();
  return path.string();
}

/// The pattern with {cycle} instead of {index}.
std::string with_cycle(std::string pattern) {
  constexpr std::string_view index = "{index";
  for (std::size_t at; (at = pattern.find(index)) != std::string::npos;) pattern.replace(at, index.size(), "{cycle");
  return pattern;
}

/// True if both formats write tables, or both surfaces, and so on.
bool alike(const ResultFormat& one, const ResultFormat& other) {
  return (one.image && other.image) || (one.surface && other.surface) || (one.cells && other.cells) ||
         (one.table && other.table) || (one.data && other.data);
}

/// True if a format can write the results of a file. A table of a single iteration may be a data set with an array per
/// column.
bool fits(const TaskFile& file, const ResultFormat& format, const Registry& registry) {
  if (file.kinds.empty()) return true;
  return std::any_of(file.kinds.begin(), file.kinds.end(), [&](const std::string& ending) {
    const auto kind = registry.formats().find(ending);
    if (kind == registry.formats().end()) return false;
    return alike(format, kind->second) || (kind->second.table && format.data && names_iteration(file.pattern));
  });
}

/// Checks the ending as written: the format is selected by it when there is a result.
void check_ending(const TaskConfig& task, const TaskFile& file, const Registry& registry) {
  if (task.writer || registry.formats().empty()) return;
  const std::string ending = std::filesystem::path(file.pattern).extension().string();
  std::vector<std::string> known;
  for (const auto& [name, format] : registry.formats()) {
    if (fits(file, format, registry)) known.push_back(name);
  }
  // Endings without a format belong to other programs, for example charts as .pdf.
  for (const std::string& kind : file.kinds) {
    if (!registry.formats().contains(kind)) known.push_back(kind);
  }
  if (std::find(known.begin(), known.end(), ending) != known.end()) return;
  fail_at(file.where, "found the file name '{}' with the ending '{}', expected one of {}; {}", file.pattern, ending,
          listed(known), suggestion(ending, known, "change the ending"));
}

}  // namespace

std::vector<TaskFile> files_of(const TaskConfig& task, const Registry& registry) {
  std::vector<TaskFile> files;
  const bool defaults = task.makes < 0;  // a result that becomes a mesh is only written where the file says so
  for_each_option(task.settings, options_of(task, registry),
                  [&](const Option& option, const Settings& in, const std::vector<Option>& beside) {
                    if (option.type != OptionType::file || is_replaced(option, in, beside)) return;
                    const bool given = in.given(option.name);
                    if (!given && (!defaults || (!option.with.empty() && !in.given(option.with)))) return;
                    const auto patterns = option.list ? in.texts(option.name) : std::vector{in.text(option.name)};
                    for (const std::string& pattern : patterns)
                      files.push_back({pattern, in.where(option.name), option.choices});
                  });
  return files;
}

namespace {

/// A file of a task, for comparison with others.
struct NamedFile {
  const TaskConfig* task;
  const TaskFile* file;
};

void check_not_ours(const TaskFile& file, const std::string& results) {
  for (const char* name : own_files::all) {
    if (place_of(file.pattern, results) != name) continue;
    fail_at(file.where, "found the file name '{}', which Sidestream itself uses, expected another; choose one",
            file.pattern);
  }
}

/// Databases choose the names of their files themselves.
void check_not_of_database(const NamedFile& one, const NamedFile& database, const std::string& results) {
  const std::filesystem::path path = place_of(one.file->pattern, results);
  const std::filesystem::path place = place_of(std::filesystem::path(database.file->pattern) / "file", results);
  if (one.task == database.task || path.parent_path() != place.parent_path()) return;
  for (const char* name : own_files::of_databases) {
    if (!path.filename().string().starts_with(name)) continue;
    fail_at(
        one.file->where,
        "found the file name '{}' of '{}', which begins with '{}' in the directory of the database '{}', that has files of "
        "such names itself, expected another; choose one",
        one.file->pattern, one.task->name, name, database.task->name);
  }
}

[[noreturn]] void fail_same(const NamedFile& one, const NamedFile& first, const std::string& what) {
  fail_at(one.file->where,
          "found the file name '{}' of '{}', which {} '{}' of '{}' in line {}, expected names that differ in more than "
          "the iteration; give one of them another 'file'",
          one.file->pattern, one.task->name, what, first.file->pattern, first.task->name, first.file->where.line);
}

/// True if files of this ending have VTK's collection over time, `<stem>.pvd`.
bool has_collection(const std::string& ending) { return ending.starts_with(".vt") || ending.starts_with(".pvt"); }

/// The index over time is named after the common part of the names.
void check_indices(const std::vector<NamedFile>& all, const std::string& results) {
  std::map<std::string, NamedFile> owners;
  const auto take = [&](const NamedFile& one, const std::string& index) {
    const auto [first, is_new] = owners.emplace(index, one);
    if (!is_new && first->second.file != one.file) {
      fail_same(one, first->second, fmt::format("would share the index '{}' with", index));
    }
  };
  for (const NamedFile& one : all) {
    if (!names_iteration(one.file->pattern)) continue;
    const std::string ending = std::filesystem::path(one.file->pattern).extension().string();
    const std::string stem = place_of(series_stem(one.file->pattern), results);
    take(one, stem + ending + ".series");
    if (has_collection(ending)) take(one, stem + ".pvd");
  }
}

/// Names may coincide in some iterations only, so the first ones are tried.
void check_expansions(const std::vector<NamedFile>& all, const std::string& results) {
  constexpr std::int64_t tried = 12;
  for (std::int64_t n = 0; n < tried; ++n) {
    for (const Iteration& iteration : {Iteration{n, n, static_cast<double>(n)}, Iteration{n, 10 * n, 0.5 * n}}) {
      std::map<std::string, NamedFile> owners;
      for (const NamedFile& one : all) {
        const std::string name = expand_pattern(one.file->pattern, iteration, 0);
        const auto [first, is_new] = owners.emplace(place_of(name, results), one);
        if (is_new) continue;
        fail_same(one, first->second, fmt::format("in iteration {} is the file '{}', as is", n, name));
      }
    }
  }
}

}  // namespace

void check_task_files(const std::vector<TaskConfig>& tasks, const Registry& registry, const std::string& results) {
  std::map<std::string, std::pair<const TaskConfig*, Location>> writers;
  std::vector<std::vector<TaskFile>> files;
  std::vector<NamedFile> all;
  for (const TaskConfig& task : tasks) {
    for (const TaskFile& file : files.emplace_back(files_of(task, registry))) {
      const std::string name = place_of(file.pattern, results);
      const auto [first, is_new] = writers.emplace(name, std::pair{&task, file.where});
      if (!is_new) {
        fail_at(file.where,
                "found the file name '{}' of '{}', which '{}' in line {} writes too, expected different files; "
                "give one of them another 'file'",
                file.pattern, task.name, first->second.first->name, first->second.second.line);
      }
      check_ending(task, file, registry);
      check_not_ours(file, results);
    }
  }
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    for (const TaskFile& file : files[t]) all.push_back({&tasks[t], &file});
  }
  for (const NamedFile& database : all) {
    if (!database.task->writer || database.task->kind != "database") continue;
    for (const NamedFile& one : all) check_not_of_database(one, database, results);
  }
  check_indices(all, results);
  check_expansions(all, results);
}

void check_resumed_files(const std::vector<TaskConfig>& tasks, const Registry& registry) {
  for (const TaskConfig& task : tasks) {
    for (const TaskFile& file : files_of(task, registry)) {
      const std::string& name = file.pattern;
      if (!names_field(name, "index") || names_field(name, "cycle") || names_field(name, "time")) continue;
      fail_at(file.where,
              "found the file name '{}' of '{}' with output.existing: resume, but a run that goes on counts {{index}} "
              "from 0 again, so that its names are those of the earlier run; use {{cycle}} as in '{}'",
              name, task.name, with_cycle(name));
    }
  }
}

}  // namespace sidestream
