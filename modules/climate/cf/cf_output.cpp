#include "climate/cf/cf_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/writers/common_options.hpp"

namespace sidestream {

namespace {

/// The feedback of the first pass.
struct Agreed {
  std::string failure{};
  std::vector<double> least{};  ///< agreed minima for the forms
  std::vector<CfBlock> blocks{};
  std::vector<std::string> paths{};
  std::vector<std::int32_t> files{};  ///< index of each array's path; -1: none
  std::vector<std::uint64_t> places{};

  [[nodiscard]] Bytes packed() const {
    ByteWriter out;
    out.put(failure);
    out.put(least);
    out.put(blocks);
    out.put(paths);
    out.put(files);
    out.put(places);
    return out.take();
  }
  static Agreed unpacked(BytesView bytes) {
    Agreed all;
    ByteReader in(bytes);
    in.get(all.failure);
    in.get(all.least);
    in.get(all.blocks);
    in.get(all.paths);
    in.get(all.files);
    in.get(all.places);
    return all;
  }
  void take(const std::vector<CfTarget>& targets) {
    for (const CfTarget& target : targets) {
      if (!target.path.empty() && (paths.empty() || paths.back() != target.path)) paths.push_back(target.path);
      files.push_back(target.path.empty() ? -1 : static_cast<std::int32_t>(paths.size()) - 1);
      places.push_back(target.place);
    }
  }
};

/// Merges the servers' counts.
struct Counted {
  std::vector<double> least;
  std::vector<Index> counts;
  std::vector<CfBlock> blocks{};

  void add(BytesView partial) {
    ByteReader in(partial);
    std::vector<double> numbers;
    std::vector<Index> points;
    std::vector<CfBlock> more;
    in.get(numbers);
    in.get(points);
    in.get(more);
    for (std::size_t n = 0; n < numbers.size(); ++n) least.at(n) = std::min(least[n], numbers[n]);
    for (std::size_t n = 0; n < points.size(); ++n) {
      if (points[n] >= 0) counts.at(n) = std::max<Index>(counts[n], 0) + points[n];
    }
    blocks.insert(blocks.end(), more.begin(), more.end());
  }
};

}  // namespace

FormsOfOutput cf_forms() {
  using Kind = Precision::Kind;
  return {{Kind::single, Kind::quantise},
          HalfAs::float32,
          false,
          "",
          "which changes the size of values with their content; choose 'single' or 'quantise', or the output 'hdf5'"};
}

void check_cf(const Settings& settings, const Metadata& metadata, const std::vector<std::int32_t>& variables) {
  for (const std::int32_t id : variables) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(id)];
    const Mesh& mesh = metadata.mesh_of(variable);
    const std::string why = why_not_cf(mesh);
    if (why.empty()) continue;
    settings.fail("variables",
                  fmt::format("the variable '{}' is on the mesh '{}', {}, for which the CF conventions have "
                              "no form; `resample` it with `makes` and write the mesh that this makes, or "
                              "use the output 'hdf5' or 'vtk'",
                              variable.name, mesh.name, why));
  }
}

Selection CfOutput::selection(const std::vector<std::int32_t>& variables, const Metadata& metadata) const {
  Selection selection = selection_of(variables);
  for (Selected& selected : selection.variables) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(selected.variable)];
    // Centres of cells need all nodes of the cells.
    selected.completed =
        variable.role == Role::coordinates && metadata.mesh_of(variable).kind() == MeshKind::curvilinear;
  }
  return selection;
}

Bytes CfOutput::local(const LocalInput& input) {
  if (input.pass + 1 < passes) return count(input);
  if (together_) return input.stays ? Bytes() : pack(input);
  if (writers_ > 0) {
    later_ = [this, &input] { write(input); };
  } else {
    write(input);
  }
  return {};
}

Bytes CfOutput::count(const LocalInput& input) const {
  ByteWriter out;
  out.put(forms_.measure(input, [](const Variable&, const BlockView& view) { return view.points; }));
  std::vector<Index> counts;
  for (const CfArray& array : layout_.arrays) counts.push_back(cf_count(array, input));
  out.put(counts);
  out.put(cf_blocks(input, layout_));
  return out.take();
}

Bytes CfOutput::agree(const CombineInput& input, PendingFiles& pending, const Make& make) {
  ByteWriter mine;
  for (const Bytes& partial : input.partials) mine.put(partial);
  const std::vector<Bytes> gathered = input.communicator.gather(mine.take(), 0);
  Bytes feedback;
  if (input.communicator.rank() == 0) {
    Agreed agreed;
    agreed.failure = failure_of([&] {
      Counted all{std::vector<double>(forms_.measured(), std::numeric_limits<double>::infinity()),
                  std::vector<Index>(layout_.arrays.size(), -1)};
      for (const Bytes& message : gathered) {
        ByteReader in(message);
        for (Bytes partial; !in.at_end(); all.add(partial)) in.get(partial);
      }
      forms_.take(all.least);
      forms_.report(input);
      const CfShape shape{CfLists(std::move(all.blocks)), std::move(all.counts)};
      agreed.least = std::move(all.least);
      agreed.blocks = shape.lists.blocks();
      agreed.take(make(input, shape, forms_));
    });
    feedback = agreed.packed();
  }
  try {
    input.communicator.broadcast(feedback, 0);
    const std::string failure = Agreed::unpacked(feedback).failure;
    if (!failure.empty()) throw Error(Code::file, failure);
  } catch (...) {
    pending.discard();
    throw;
  }
  if (together_) feedback_ = feedback;
  return feedback;
}

CfAgreement CfOutput::take_agreement(BytesView feedback) {
  Agreed agreed = Agreed::unpacked(feedback);
  forms_.take(agreed.least);
  CfAgreement agreement{CfLists(std::move(agreed.blocks)), {}};
  for (std::size_t n = 0; n < agreed.files.size(); ++n) {
    const std::int32_t file = agreed.files[n];
    agreement.targets.push_back({file < 0 ? "" : agreed.paths[static_cast<std::size_t>(file)], agreed.places[n]});
  }
  return agreement;
}

StoredForm CfOutput::form_of(const CfArray& array, const Metadata& metadata) const {
  const Variable& variable = metadata.variables[static_cast<std::size_t>(array.variable)];
  return array.source == CfSource::values ? forms_.of(variable) : StoredForm(cf_type(array, metadata));
}

void CfOutput::put(std::size_t array, const LocalInput& input, const CfLists& lists, const CfSink& sink) const {
  const CfArray& one = layout_.arrays[array];
  cf_put(one, input, lists, form_of(one, input.metadata), sink);
}

/// The values for servers without the blocks: for each part its array, place and bytes.
Bytes CfOutput::pack(const LocalInput& input) {
  const CfAgreement agreement = take_agreement(input.feedback);
  ByteWriter out;
  for (std::size_t n = 0; n < layout_.arrays.size(); ++n) {
    if (!agreement.has(n)) continue;
    put(n, input, agreement.lists, [&](BytesView values, const Box& part) {
      out.put(n);
      out.put(part);
      out.put(values.size());
      out.put_all(values);
    });
  }
  return out.take();
}

void CfOutput::put(const CombineInput& input, const CfAgreement& agreement, std::size_t begin, std::size_t end,
                   const ArraySink& sink) const {
  if (input.local != nullptr && input.local->stays) {
    for (std::size_t n = begin; n < end; ++n) {
      if (!agreement.has(n)) continue;
      put(n, *input.local, agreement.lists, [&](BytesView values, const Box& part) { sink(n, values, part); });
    }
    return;
  }
  for (const Bytes& partial : input.partials) {
    for (BytesView left = partial; !left.empty();) {
      ByteReader in(left);
      const auto array = in.get<std::size_t>();
      const auto part = in.get<Box>();
      const auto size = in.get<std::size_t>();
      const BytesView values = left.subspan(left.size() - in.left(), size);
      if (array >= begin && array < end) sink(array, values, part);
      left = left.subspan(left.size() - in.left() + size);
    }
  }
}

CfPlace CfOutput::place(std::size_t array, const Metadata& metadata, const CfLists& lists) const {
  const CfArray& one = layout_.arrays[array];
  const auto values = static_cast<std::uint64_t>(cf_values_of_point(one, metadata, lists));
  return {cf_points(one, metadata, lists), cf_order(one, metadata), 0, values * size_of(form_of(one, metadata).type)};
}

void CfOutput::write(const LocalInput& input) {
  const CfAgreement agreement = take_agreement(input.feedback);
  Descriptor file;
  std::string opened;
  for (std::size_t n = 0; n < layout_.arrays.size(); ++n) {
    const std::string& path = agreement.targets[n].path;
    if (path.empty() || input.of(layout_.arrays[n].variable).empty()) continue;
    if (opened != path) file = Descriptor(open_existing(path, O_WRONLY));
    if (file.get() < 0) fail_file("open", path, errno);
    opened = path;
    CfPlace whole = place(n, input.metadata, agreement.lists);
    whole.offset = agreement.targets[n].place;
    put(n, input, agreement.lists,
        [&](BytesView bytes, const Box& part) { write_part(file.get(), path, whole, bytes, part); });
  }
}

void CfOutput::commit(const CombineInput& input, PendingFiles& pending, const std::function<void()>& index) {
  std::string failure;
  try {
    if (together_) {
      failure = together_(input, take_agreement(feedback_));
    } else if (writers_ > 0) {
      take_turns(input.communicator, writers_, [&] { failure = failure_of(later_); });
    }
  } catch (...) {
    pending.discard();
    throw;
  }
  input.communicator.barrier();  // the first server renames the files that the others write
  pending.commit(input.communicator, {}, failure, [&](const std::vector<Bytes>&) { index(); });
}

}  // namespace sidestream
