#include "coupling.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <sidestream/error.hpp>
#include <sidestream/kit/base/names.hpp>
#include <string_view>
#include <utility>

namespace sidestream::interposed {

namespace {

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Names of files and datasets that are kept for messages.
constexpr std::size_t most_names = 1000;

/// A pattern for a file's name: the last number before its ending counts the files.
std::string pattern_of(const std::string& name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t end = std::min(name.rfind('.'), name.size());
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  return begin == end ? name : name.substr(0, begin) + "{cycle}" + name.substr(end);
}

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Coupling::Coupling(MappedFiles files, arrays::Mapping mapping, std::string mapping_file, void (*at_end)())
    : files_(std::move(files)), mapping_(std::move(mapping)), mapping_file_(std::move(mapping_file)), finish_(at_end) {}

// ---- Files and ranks

bool Coupling::opened(const ProgramHdf5& hdf5, Id file, Id access) {
  const std::string name = hdf5.file_of(file);
  const std::optional<Fit> fitted = fit(files_.pattern, base_of(name));
  if (!fitted && others_.size() < most_names && interop::Ranks::this_rank() == 0) others_.insert(base_of(name));
  if (finished_ || !fitted || !join(hdf5.communicator(access), name)) return false;
  if (files_.steps == Steps::index && open_.empty() && name != last_file_) step_ = first_step();  // a new series
  if (name != last_file_) {
    std::erase_if(grown_, [this](const auto& one) { return open_.find(one.first.first) == open_.end(); });
  }
  last_file_ = name;
  OpenFile& open = open_[name];
  open.name = name;
  open.cycle = fitted->cycle;
  ++open.times;
  return true;
}

bool Coupling::join(std::optional<MPI_Comm> comm, const std::string& name) {
  const std::string other = name + ": not published, since other ranks write it than the first mapped file";
  if (!comm) {
    if (feed_ && !alone_) say(other);
    if (feed_) return alone_;
    if (!interop::Ranks::can_be_one_process()) {
      say(name +
          ": not published, since the program has not started MPI yet; start it first, or run a program "
          "without MPI without a launcher");
      return false;
    }
    start(interop::Ranks::one_process(), true);
    return true;
  }
  std::unique_ptr<interop::Ranks> ranks = interop::Ranks::taking(*comm);
  const bool same = feed_ && !alone_ && ranks->same_as(*ranks_);
  const std::vector<std::string> states = ranks->gather(!feed_ ? "none" : same ? "same" : "other");
  const auto all = [&](const char* state) { return std::count(states.begin(), states.end(), state) == ranks->size(); };
  if (all("none")) {
    start(std::move(ranks), false);
  } else if (!all("same")) {
    say(other);
    return false;
  }
  return true;
}

void Coupling::start(std::unique_ptr<interop::Ranks> ranks, bool alone) {
  ranks_ = ranks.get();
  alone_ = alone;
  ranks_->before_end(finish_);
  feed_ = std::make_unique<arrays::Feed>(std::move(ranks), "", mapping_file_);
}

OpenFile* Coupling::closing(const ProgramHdf5& hdf5, Id file) {
  if (open_.empty() || !hdf5.is_last_of_file(file)) return nullptr;
  const auto found = open_.find(hdf5.file_of(file));
  return found == open_.end() || finished_ ? nullptr : &found->second;
}

void Coupling::closed(OpenFile* file, bool worked) {
  if (!worked || --file->times > 0) return;
  const std::optional<std::int64_t> cycle = file->cycle;
  open_.erase(file->name);
  nameless_.clear();
  closed_step_ = true;
  end(files_.steps == Steps::file ? cycle.value_or(ended_) : std::max<std::int64_t>(step_, 0));
}

void Coupling::say_if_no_file_fits() {
  if (feed_ || finished_ || others_.empty()) return;
  std::set<std::string> patterns;
  for (const std::string& name : others_) patterns.insert(pattern_of(name));
  say(mapping_file_ + ": nothing is published, since no file fits `files: {pattern: \"" + files_.pattern +
      "\"}`, expected one of those that the program opens for writing (found " + arrays::some_of(others_) + "); " +
      suggestion(files_.pattern, {patterns.begin(), patterns.end()}, "correct the pattern"));
}

void Coupling::finish() {
  if (!feed_ || finished_) return;
  finished_ = true;
  // Files that are still open: the step that was begun ends here.
  const std::optional<std::int64_t> cycle = open_.empty() ? std::nullopt : open_.begin()->second.cycle;
  end(files_.steps == Steps::file ? cycle.value_or(ended_) : std::max<std::int64_t>(step_, 0));
  open_.clear();
  if (feed_->unknown()) feed_->has(datasets_);
  feed_->close();
  feed_.reset();
}

// ---- Steps

void Coupling::advance(std::int64_t step) {
  end(std::max<std::int64_t>(step_, 0));
  step_ = step;
  closed_step_ = false;
}

void Coupling::end(std::int64_t cycle) {
  // Three words: if this rank has parts, the bits of the time, the meshes of points that it has parts of.
  std::string mine = has_parts_ ? "parts " : "- ";
  mine += time_ ? std::to_string(std::bit_cast<std::int64_t>(*time_)) : "-";
  mine += " " + feed_->written();
  has_parts_ = false;
  time_.reset();
  ++period_;
  bool any = false;
  double time = static_cast<double>(cycle);
  bool has_time = false;
  std::string written;
  std::vector<std::string> texts = ranks_->gather(mine);
  std::reverse(texts.begin(), texts.end());  // the lowest rank's time counts
  for (const std::string& text : texts) {
    any = any || text.front() == 'p';
    const std::size_t second = text.find(' ') + 1, third = text.find(' ', second) + 1;
    const std::string_view word = std::string_view(text).substr(second, third - 1 - second);
    if (word != "-") time = std::bit_cast<double>(number_in(word));
    has_time = has_time || word != "-";
    written = arrays::Feed::either(written, text.substr(third));
  }
  if (!any) return;
  if (!has_time && !files_.time.empty()) say_no_time(cycle);
  if (feed_->unknown()) feed_->has(datasets_);
  feed_->end_step(cycle, time, written);
  if (ended_++ == 0) ranks_->before_end(finish_);  // before what the session does then, which is opened now
}

void Coupling::say_no_time(std::int64_t cycle) {
  if (std::exchange(without_time_, true) || ranks_->rank() != 0) return;
  const std::string remedy = datasets_.count(files_.time) != 0
                                 ? "write it in each step"
                                 : suggestion(files_.time, {datasets_.begin(), datasets_.end()}, "correct the path");
  say(mapping_file_ + ": found no number for `files: {time: " + files_.time + "}` in the step with the cycle " +
      std::to_string(cycle) + ", expected one in each step (there are " + arrays::some_of(datasets_) +
      "); its time is the cycle; " + remedy);
}

void Coupling::created(const ProgramHdf5& hdf5, Id dataset) {
  const std::optional<Target> made = target(hdf5, dataset);
  if (!made || made->nameless) return;
  if (made->cycle && *made->cycle != step_) advance(*made->cycle);
  if (!made->grows) return;
  Growth& growth = grown_[{made->dataset.file, made->dataset.path}] = {};
  if (made->dataset.size[0] > 0) growth.period = period_;
}

void Coupling::extending(const ProgramHdf5& hdf5, Id dataset, const std::uint64_t* size) {
  const std::optional<Target> of = target(hdf5, dataset);
  if (of && of->grows) grow(*of, static_cast<Index>(size[0]));
  if (!of || !of->stepped) return;
  // More than one new index: the writes will tell.
  if (size[0] == static_cast<std::uint64_t>(of->dataset.size[0]) + 1 && of->dataset.size[0] > step_) {
    advance(of->dataset.size[0]);
  }
}

void Coupling::grow(const Target& of, Index size) {
  if (size <= of.dataset.size[0]) return;
  const auto found = grown_.find({of.dataset.file, of.dataset.path});
  const bool again = found != grown_.end() && found->second.period == period_;
  if (files_.steps == Steps::index && (again || closed_step_)) {
    advance(step_ + 1);
  } else if (again) {
    return;  // the step has more rows
  }
  grown_[{of.dataset.file, of.dataset.path}] = {period_, of.dataset.size[0]};
}

std::optional<Index> Coupling::first_row(const Target& of) const {
  const auto found = grown_.find({of.dataset.file, of.dataset.path});
  if (found == grown_.end() || found->second.period != period_) return std::nullopt;
  return found->second.first;
}

void Coupling::reach(const Target& of, std::optional<std::int64_t> index, bool together, std::string& why) {
  // All ranks or none compare their indices: that depends only on sizes and the present step.
  const bool ahead = of.cycle ? *of.cycle != step_ : of.stepped && of.dataset.size[0] - 1 > step_;
  if (ahead && together) {
    std::int64_t furthest = index.value_or(-1);
    if (of.stepped) {
      for (const std::string& text : ranks_->gather(std::to_string(furthest))) {
        furthest = std::max(furthest, number_in(text));
      }
    }
    if (of.cycle || furthest > step_) advance(furthest);
  }
  if (!index || *index == step_ || !why.empty()) return;
  if (of.stepped && *index < step_) {
    why = "found the index " + std::to_string(*index) + " after the index " + std::to_string(step_);
  } else {
    why =
        "found a new step in a write that is not collective, so that the ranks cannot agree; extend the dataset by "
        "one index for each step, write collectively, or use `steps: file`";
  }
}

// ---- Writes

std::optional<Target> Coupling::target(const ProgramHdf5& hdf5, Id dataset) {
  if (open_.empty() || finished_) return std::nullopt;
  Target made;
  made.dataset = hdf5.dataset(dataset);
  if (open_.find(made.dataset.file) == open_.end()) return std::nullopt;
  made.nameless = made.dataset.path.empty();
  if (made.nameless) return made;
  made.name = made.dataset.path;
  if (files_.steps == Steps::path) {
    if (const std::optional<Fit> fitted = fit(files_.path, made.name)) {
      made.name = fitted->general;
      made.cycle = fitted->cycle;
    }
  }
  const bool counts = datasets_.size() < most_names;
  if (counts) datasets_.insert(made.name);
  made.is_time = made.name == files_.time;
  std::string mapped = made.is_time || is_mapped(mapping_, made.name) ? made.name : "";
  const ValueType stored = hdf5.stored_type(dataset);  // the same on all ranks, other than the type in memory
  for (const ValueType::Member& member : stored.members) {
    const std::string name = member_name(made.name, member.name);
    if (stored.compound && counts) datasets_.insert(name);
    if (stored.compound && is_mapped(mapping_, name)) mapped = name;
  }
  if (mapped.empty()) return std::nullopt;
  const arrays::ArrayRule* const rule = mapping_.find(mapped);
  const auto mesh = rule == nullptr ? mapping_.meshes.end() : mapping_.meshes.find(rule->mesh);
  const bool endless = !made.dataset.endless.empty() && made.dataset.endless[0];
  made.points = mesh != mapping_.meshes.end() && mesh->second.points;
  made.grows = endless && made.points && mesh->second.grows;
  made.stepped = files_.steps == Steps::index && endless && !made.grows;
  return made;
}

TakenWrites Coupling::writing(const ProgramHdf5& hdf5, const sidestream_hdf5_write& write, char* skip) {
  TakenWrites all;
  for (std::size_t n = 0; n < write.count && !open_.empty(); ++n) {
    const std::optional<Target> of = target(hdf5, write.datasets[n]);
    if (!of) continue;
    TakenWrite taken = take_write(hdf5, write, n, *of, mapping_);
    const bool several = write.count > 1 && ranks_->size() > 1;  // ranks may come with different numbers of datasets
    const bool together = ranks_->size() == 1 || (!several && hdf5.is_collective(write.transfer));
    if (of->nameless) {
      taken.nameless = write.datasets[n];
      if (taken.why.empty()) all.push_back(std::move(taken));
      continue;
    }
    reach(*of, taken.index, together, taken.why);
    const bool old_rows =
        of->grows && taken.has_values() && taken.first_row < first_row(*of).value_or(taken.first_row + 1);
    if (taken.why.empty() && old_rows) taken.why = "found rows of an earlier step";
    // The first step is also written: nobody knows yet if the session will start.
    const bool only = files_.only && !feed_->unknown();
    if (only && !of->is_time && !(several && hdf5.is_collective(write.transfer))) {
      // HDF5 refuses a write without a buffer, as it does without Sidestream.
      const bool refused = write.buffers[n] == nullptr && taken.why.empty() && taken.has_values();
      skip[n] = all_can(taken.why.empty() && taken.complete && !refused && will_publish(taken), together) ? 1 : 0;
    }
    if (!taken.why.empty()) refuse(*of, "", taken.why, taken.selection);
    for (const auto& [member, why] : taken.refused) refuse(*of, member, why, "");
    all.push_back(std::move(taken));
  }
  return all;
}

bool Coupling::will_publish(const TakenWrite& taken) {
  return std::all_of(taken.parts.begin(), taken.parts.end(),
                     [this](const TakenPart& one) { return feed_->will_publish(one.part); });
}

bool Coupling::all_can(bool can, bool together) const {
  if (!together || ranks_->size() == 1) return can;
  const std::vector<std::string> texts = ranks_->gather(can ? "yes" : "no");
  return std::count(texts.begin(), texts.end(), "yes") == ranks_->size();
}

namespace {

double real_value(Type type, const std::byte* data) {
  return with_type(type, [data](auto value) {
    std::memcpy(&value, data, sizeof value);
    return static_cast<double>(value);
  });
}

}  // namespace

void Coupling::written(TakenWrites writes) {
  for (TakenWrite& taken : writes) {
    if (!taken.why.empty() || !feed_) continue;
    for (TakenPart& one : taken.parts) one.gather();
    if (taken.nameless >= 0) {
      std::erase_if(taken.parts, [](const TakenPart& one) {
        return !arrays::problem_of(one.part).empty() && one.part.values() != 1;
      });
      for (TakenPart& one : taken.parts) {
        one.copy = packed(one.part);
        one.part.data = one.copy.data();
        one.part.strides.clear();
      }
      nameless_.push_back(std::move(taken));
    } else {
      put(taken);
    }
  }
}

void Coupling::put(TakenWrite& taken) {
  for (const TakenPart& one : taken.parts) {
    if (!taken.is_time) {
      feed_->put(one.part, arrays::Read::now);
      has_parts_ = true;
    } else if (one.part.values() == 1 && one.part.data != nullptr) {
      time_ = real_value(one.part.type, one.part.data);
    }
  }
}

void Coupling::refuse(const Target& of, const std::string& member, const std::string& why,
                      const std::string& selection) {
  if (!refused_.insert(member_name(of.name, member) + "\n" + why).second) return;
  say(of.dataset.file + ": " + member_name(of.dataset.path, member) + ": " + why +
      (selection.empty() ? "" : " (" + selection + ")") + "; it is written, and not published" +
      feed_->out_of_date(member_name(of.name, member)));
}

void Coupling::linked(const ProgramHdf5& hdf5, Id dataset) {
  TakenWrites found;
  for (TakenWrite& taken : std::exchange(nameless_, {})) {
    (taken.nameless == dataset ? found : nameless_).push_back(std::move(taken));
  }
  const std::optional<Target> of = target(hdf5, dataset);
  if (!of || of->nameless || of->stepped) return;
  if (of->cycle && *of->cycle != step_) advance(*of->cycle);
  if (of->grows) grown_[{of->dataset.file, of->dataset.path}] = {period_, 0};
  for (TakenWrite& taken : found) {
    std::erase_if(taken.parts, [&](const TakenPart& one) {
      return !one.member.empty() && !is_mapped(mapping_, member_name(of->name, one.member));
    });
    for (const auto& [member, why] : taken.refused) {
      if (is_mapped(mapping_, member_name(of->name, member))) refuse(*of, member, why, "");
    }
    if (taken.parts.empty() && taken.refused.empty()) {
      refuse(*of, "", why_no_member(of->name, hdf5.stored_type(dataset)), "");
    }
    taken.is_time = of->is_time;
    for (TakenPart& one : taken.parts) one.part.name = member_name(of->name, one.member);
    put(taken);
  }
}

void Coupling::bypassing(const ProgramHdf5& hdf5, Id dataset, const char* call) {
  const std::optional<Target> of = target(hdf5, dataset);
  if (of && !of->nameless) refuse(*of, "", std::string("found ") + call + ", expected H5Dwrite", "");
}

}  // namespace sidestream::interposed
