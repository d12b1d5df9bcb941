#include "storage/results/kept_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>

#include "base/mpi/agree.hpp"
#include "sidestream/kit/base/checksum.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

constexpr const char* list_ending = ".state";

std::string state_name(const std::string& name, std::int64_t cycle) { return fmt::format("{}-{:06}", name, cycle); }
std::string part_name(std::int64_t part) { return fmt::format("part-{:06}.bin", part); }

/// Writes a part after its checksum.
void write_part(const std::string& path, BytesView mine) {
  const std::uint64_t checksum = checksum_of(mine);
  OutputFile file(path);
  file.write(bytes_of(checksum));
  file.write(mine);
  file.close();
}

Bytes read_part(const std::string& path) {
  const std::string text = read_file(path);
  const BytesView all = std::as_bytes(std::span(text));
  std::uint64_t checksum = 0;
  if (all.size() >= sizeof checksum) checksum = record_of<std::uint64_t>(all.first(sizeof checksum));
  if (all.size() < sizeof checksum || checksum_of(all.subspan(sizeof checksum)) != checksum) {
    fail(Code::file,
         "'{}', the state of an analysis, is damaged; remove the state, which begins anew then, or restore it", path);
  }
  return {all.begin() + sizeof checksum, all.end()};
}

/// The contents of a list of parts.
struct PartList {
  std::int64_t parts = -1;
  std::int64_t iteration = -1;  ///< the last one that the state has, as its session counts; -1: unknown
};

/// The number after a word; -1 if there is none.
std::int64_t number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  std::int64_t number = -1;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + word.size(), text.data() + text.size(), number);
  return number;
}

PartList read_part_list(const std::string& path) {
  const std::string text = read_file(path);
  if (text.starts_with("sidestream state 1, parts ")) {
    const PartList list{number_after(text, ", parts "), number_after(text, ", iteration ")};
    if (list.parts >= 0) return list;
  }
  fail(Code::file, "'{}' is no list of the parts of a state of version 1; remove it, or use the version that wrote it",
       path);
}

}  // namespace

std::string StateFiles::path(const std::string& name) const { return directory_->path("states/" + name, {}, 0); }

/// The cycles of the states, ascending.
std::vector<std::int64_t> StateFiles::cycles(const std::string& name) const {
  std::vector<std::int64_t> cycles;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path(""), ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(list_ending) || !file.starts_with(name + "-")) continue;
    const char* const end = file.data() + file.size() - std::string_view(list_ending).size();
    std::int64_t cycle = 0;
    const auto [at, error] = std::from_chars(file.data() + name.size() + 1, end, cycle);
    if (error == std::errc() && at == end) cycles.push_back(cycle);
  }
  std::sort(cycles.begin(), cycles.end());
  return cycles;
}

/// Removes the list first, since without it a state does not count.
void StateFiles::remove(const std::string& name, std::int64_t cycle) const noexcept {
  std::error_code ignored;
  fs::remove(path(state_name(name, cycle) + list_ending), ignored);
  fs::remove_all(path(state_name(name, cycle)), ignored);
}

void StateFiles::keep(const std::string& name, const Iteration& iteration, BytesView mine, Communicator& servers,
                      int most) const {
  const std::string state = state_name(name, iteration.cycle);
  run_collectively(servers, [&] {
    if (servers.rank() == 0) remove(name, iteration.cycle);
  });
  PendingFiles pending(directory_);
  const std::string failure =
      failure_of([&] { write_part(pending.begin(path(state + "/" + part_name(servers.rank()))), mine); });
  pending.commit(servers, {}, failure, [&](const std::vector<Bytes>&) {
    pending.place(path(state + list_ending), [&](const std::string& temporary) {
      write_file(temporary,
                 fmt::format("sidestream state 1, parts {}, iteration {}\n", servers.size(), iteration.index));
    });
  });
  if (servers.rank() != 0) return;
  const std::vector<std::int64_t> all = cycles(name);
  for (std::size_t n = 0; n + static_cast<std::size_t>(most) < all.size(); ++n) remove(name, all[n]);
}

/// The newest state up to a cycle. Later states belong to a future that this run replaces.
std::optional<std::int64_t> StateFiles::choose(const std::string& name, std::int64_t cycle) const {
  std::optional<std::int64_t> chosen;
  for (const std::int64_t one : cycles(name)) {
    const bool counts = directory_->resumes() && one <= cycle;
    counts ? static_cast<void>(chosen = one) : remove(name, one);
  }
  return chosen;
}

/// Servers of the same session count on, so the number of the state's last iteration tells what is lost.
void StateFiles::warn_of_lost(const std::string& name, std::int64_t known) const {
  if (known + 1 >= taken_over_at_) return;
  const std::string lost = known + 2 == taken_over_at_
                               ? fmt::format("iteration {}", known + 1)
                               : fmt::format("iterations {} to {}", known + 1, taken_over_at_ - 1);
  log::warning(
      "'{}': what it keeps over iterations lacks {}: the servers that took them ended without a state, or they were "
      "refused. States are kept with checkpoints, and when servers are told to end",
      name, lost);
}

std::vector<Bytes> StateFiles::earlier(const std::string& name, const Iteration& first, Communicator& servers) const {
  std::int64_t cycle = 0, parts = 0;
  run_collectively(servers, [&] {
    if (servers.rank() != 0) return;
    const std::optional<std::int64_t> chosen = choose(name, first.cycle);
    const PartList list = chosen ? read_part_list(path(state_name(name, *chosen) + list_ending)) : PartList{0, -1};
    cycle = chosen.value_or(0);
    parts = list.parts;
    if (taken_over_at_ > 0) warn_of_lost(name, list.iteration);
  });
  std::int64_t words[] = {cycle, parts};
  servers.sum(words);  // the other servers have zeros
  std::vector<Bytes> found;
  run_collectively(servers, [&] {
    for (std::int64_t n = servers.rank(); n < words[1]; n += servers.size()) {
      found.push_back(read_part(path(state_name(name, words[0]) + "/" + part_name(n))));
    }
  });
  return found;
}

}  // namespace sidestream
