#include "coupling.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <sidestream/error.hpp>
#include <string_view>
#include <utility>

namespace sidestream::interposed {

namespace {

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

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
  if (finished_ || !fitted || !join(hdf5.communicator(access), name)) return false;
  if (files_.steps == Steps::index && open_.empty() && name != last_file_) step_ = first_step();  // a new series
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
  end(files_.steps == Steps::file ? cycle.value_or(ended_) : std::max<std::int64_t>(step_, 0));
}

void Coupling::finish() {
  if (!feed_ || finished_) return;
  finished_ = true;
  // Files that are still open: the step that was begun ends here.
  const std::optional<std::int64_t> cycle = open_.empty() ? std::nullopt : open_.begin()->second.cycle;
  end(files_.steps == Steps::file ? cycle.value_or(ended_) : std::max<std::int64_t>(step_, 0));
  open_.clear();
  feed_->close();
  feed_.reset();
}

// ---- Steps

void Coupling::advance(std::int64_t step) {
  end(std::max<std::int64_t>(step_, 0));
  step_ = step;
}

void Coupling::end(std::int64_t cycle) {
  // The first word tells if this rank has parts; the second one is the time.
  std::string mine = has_parts_ ? "parts " : "- ";
  if (time_) mine += std::to_string(std::bit_cast<std::int64_t>(*time_));
  has_parts_ = false;
  time_.reset();
  bool any = false;
  double time = static_cast<double>(cycle);
  std::vector<std::string> texts = ranks_->gather(mine);
  std::reverse(texts.begin(), texts.end());  // the lowest rank's time counts
  for (const std::string& text : texts) {
    any = any || text.front() == 'p';
    const std::string word = text.substr(text.find(' ') + 1);
    if (!word.empty()) time = std::bit_cast<double>(number_in(word));
  }
  if (!any) return;
  feed_->end_step(cycle, time);
  if (ended_++ == 0) ranks_->before_end(finish_);  // before what the session does then, which is opened now
}

void Coupling::created(const ProgramHdf5& hdf5, Id dataset) {
  if (files_.steps != Steps::path || open_.empty()) return;
  const std::optional<Target> made = target(hdf5, dataset);
  if (made && made->cycle && *made->cycle != step_) advance(*made->cycle);
}

void Coupling::extending(const ProgramHdf5& hdf5, Id dataset, const std::uint64_t* size) {
  if (files_.steps != Steps::index || open_.empty()) return;
  const std::optional<Target> of = target(hdf5, dataset);
  if (!of || !of->stepped) return;
  // More than one new index: the writes will tell.
  if (size[0] == static_cast<std::uint64_t>(of->dataset.size[0]) + 1 && of->dataset.size[0] > step_) {
    advance(of->dataset.size[0]);
  }
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

std::optional<Coupling::Target> Coupling::target(const ProgramHdf5& hdf5, Id dataset) const {
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
  made.is_time = made.name == files_.time;
  const arrays::ArrayRule* const rule = mapping_.find(made.name);
  if (!made.is_time && (rule == nullptr || rule->leave_out)) return std::nullopt;
  made.stepped = files_.steps == Steps::index && !made.dataset.endless.empty() && made.dataset.endless[0];
  return made;
}

TakenWrite Coupling::read(const ProgramHdf5& hdf5, const sidestream_hdf5_write& write, std::size_t n, const Target& of,
                          std::optional<std::int64_t>& index) const {
  TakenWrite made;
  made.is_time = of.is_time;
  index = of.cycle;
  ChosenBox box;
  const SpaceSelection in_file = hdf5.file_selection(write.file_spaces[n], write.datasets[n]);
  made.why = choose_box(in_file, hdf5.memory_selection(write.memory_spaces[n], in_file), box);
  if (!made.why.empty()) return made;
  std::string what;
  const std::optional<Type> type = hdf5.value_type(write.types[n], what);
  if (!type) made.why = "found " + what;
  std::vector<Index> shape = of.dataset.size;
  if (of.stepped && !in_file.nothing) {
    index = box.start[0];
    if (box.count[0] != 1) made.why = "found several indices of the first axis in one write";
  }
  if (of.stepped) {
    for (std::vector<Index>* list : {&shape, &box.start, &box.count, &box.strides}) list->erase(list->begin());
  }
  if (!type) return made;
  const auto size = static_cast<Index>(size_of(*type));
  for (Index& stride : box.strides) stride *= size;
  if (in_file.nothing) box.count.assign(box.count.size(), 0);
  const std::byte* const buffer = static_cast<const std::byte*>(write.buffers[n]);
  made.part = {of.name, *type, shape, box.start, box.count, buffer, box.strides};
  if (buffer != nullptr) made.part.data = buffer + box.offset * size;
  if (made.is_time && made.part.values() > 1) made.why = "found several values for the time";
  return made;
}

TakenWrites Coupling::writing(const ProgramHdf5& hdf5, const sidestream_hdf5_write& write, char* skip) {
  TakenWrites all;
  for (std::size_t n = 0; n < write.count && !open_.empty(); ++n) {
    const std::optional<Target> of = target(hdf5, write.datasets[n]);
    if (!of) continue;
    std::optional<std::int64_t> index;
    TakenWrite taken = read(hdf5, write, n, *of, index);
    const bool several = write.count > 1 && ranks_->size() > 1;  // ranks may come with different numbers of datasets
    const bool together = ranks_->size() == 1 || (!several && hdf5.is_collective(write.transfer));
    if (of->nameless) {
      taken.nameless = write.datasets[n];
      if (taken.why.empty()) all.push_back(std::move(taken));
      continue;
    }
    reach(*of, index, together, taken.why);
    // The first step is also written: nobody knows yet if the session will start.
    const bool only = files_.only && !feed_->unknown();
    if (only && !of->is_time && !(several && hdf5.is_collective(write.transfer))) {
      // HDF5 refuses a write without a buffer, as it does without Sidestream.
      const bool refused = write.buffers[n] == nullptr && taken.why.empty() && taken.part.values() > 0;
      skip[n] = all_can(taken.why.empty() && !refused && !feed_->failed(), together) ? 1 : 0;
    }
    if (!taken.why.empty()) say(of->dataset.path + ": " + taken.why + "; it is written, and not published");
    all.push_back(std::move(taken));
  }
  return all;
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
    if (taken.nameless >= 0) {
      if (!problem_of(taken.part).empty() && taken.part.values() != 1) continue;
      taken.copy = packed(taken.part);
      nameless_.push_back(std::move(taken));
      continue;
    }
    if (taken.is_time) {
      if (taken.part.values() == 1 && taken.part.data != nullptr) time_ = real_value(taken.part.type, taken.part.data);
      continue;
    }
    feed_->put(taken.part, arrays::Read::now);
    has_parts_ = true;
  }
}

void Coupling::linked(const ProgramHdf5& hdf5, Id dataset) {
  TakenWrites found;
  for (TakenWrite& taken : std::exchange(nameless_, {})) {
    (taken.nameless == dataset ? found : nameless_).push_back(std::move(taken));
  }
  const std::optional<Target> of = target(hdf5, dataset);
  if (!of || of->nameless || of->stepped) return;
  if (of->cycle && *of->cycle != step_) advance(*of->cycle);
  for (TakenWrite& taken : found) {
    taken.nameless = -1;
    taken.is_time = of->is_time;
    taken.part.name = of->name;
    taken.part.data = taken.copy.data();
    taken.part.strides.clear();
  }
  written(std::move(found));
}

void Coupling::bypassing(const ProgramHdf5& hdf5, Id dataset, const char* call) {
  const std::optional<Target> of = target(hdf5, dataset);
  if (of && !of->nameless)
    say(of->dataset.path + ": found " + call + ", expected H5Dwrite; it is written, and not published");
}

}  // namespace sidestream::interposed
