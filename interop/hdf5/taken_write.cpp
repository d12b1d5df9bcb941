#include "taken_write.hpp"

#include <algorithm>
#include <cstring>

namespace sidestream::interposed {

namespace {

/// Takes the axis of steps away, and says which index it has.
void take_index(const Target& of, bool nothing, std::vector<ChosenBox>& boxes, TakenWrite& made) {
  if (!boxes.empty() && !boxes[0].start.empty()) {
    made.first_row = boxes[0].start[0];
    for (const ChosenBox& box : boxes) made.first_row = std::min(made.first_row, box.start[0]);
  }
  if (!of.stepped) return;
  if (of.points && of.dataset.size.size() == 1) {
    made.why =
        "found a single axis, which grows, on a mesh of points, expected `grows: yes` at the mesh if what a step adds "
        "are its points";
    return;
  }
  if (!nothing) made.index = boxes[0].start[0];
  for (ChosenBox& box : boxes) {
    if (!nothing && (box.count[0] != 1 || box.start[0] != *made.index)) {
      made.why = "found several indices of the first axis in one write";
    }
    for (std::vector<Index>* list : {&box.start, &box.count, &box.strides}) {
      if (!list->empty()) list->erase(list->begin());
    }
  }
}

/// A box of the values, or of one member of them.
TakenPart part_of(const Target& of, const ChosenBox& box, const ValueType& type, const ValueType::Member& member,
                  const void* buffer) {
  std::vector<Index> shape = of.dataset.size, strides = box.strides;
  if (of.stepped) shape.erase(shape.begin());
  const auto step = static_cast<Index>(type.size);
  for (Index& stride : strides) stride *= step;
  const auto* data = static_cast<const std::byte*>(buffer);
  if (data != nullptr) data += member.offset + static_cast<std::size_t>(box.runs.empty() ? box.offset * step : 0);
  if (!box.runs.empty()) strides.clear();
  TakenPart made;
  made.part = {member_name(of.name, member.name), *member.type, shape, box.start, box.count, data, strides};
  made.member = member.name;
  made.runs = box.runs;
  made.step = type.size;
  return made;
}

void take_members(const Target& of, const ValueType& type, const arrays::Mapping& mapping,
                  const std::vector<ChosenBox>& boxes, const void* buffer, TakenWrite& made) {
  made.complete = true;
  for (const ValueType::Member& member : type.members) {
    const bool counts = !type.compound || of.nameless || is_mapped(mapping, member_name(of.name, member.name));
    made.complete = made.complete && counts && member.type;
    if (!counts) continue;
    if (!member.type) {
      made.refused.emplace_back(member.name, "found " + member.why);
      continue;
    }
    for (const ChosenBox& box : boxes) made.parts.push_back(part_of(of, box, type, member, buffer));
  }
  if (!type.compound && !made.refused.empty()) {
    made.why = made.refused.front().second;
    made.refused.clear();
  }
  if (type.compound && made.parts.empty() && made.refused.empty()) made.why = why_no_member(of.name, type);
}

}  // namespace

void TakenPart::gather() {
  if (runs.empty() || part.data == nullptr) return;
  const std::size_t size = size_of(part.type);
  copy.resize(part.bytes());
  std::byte* to = copy.data();
  for (const Run& run : runs) {
    const std::byte* from = part.data + run.offset * static_cast<Index>(step);
    if (run.stride == 1 && step == size) {
      std::memcpy(to, from, static_cast<std::size_t>(run.count) * size);
      to += static_cast<std::size_t>(run.count) * size;
      continue;
    }
    for (Index n = 0; n < run.count; ++n, from += run.stride * static_cast<Index>(step), to += size) {
      std::memcpy(to, from, size);
    }
  }
  part.data = copy.data();
  runs.clear();
}

bool TakenWrite::has_values() const {
  return std::any_of(parts.begin(), parts.end(), [](const TakenPart& one) { return one.part.values() > 0; });
}

bool is_mapped(const arrays::Mapping& mapping, const std::string& name) {
  const arrays::ArrayRule* const rule = mapping.find(name);
  return rule != nullptr && !rule->leave_out;
}

std::string member_name(const std::string& dataset, const std::string& member) {
  return member.empty() ? dataset : dataset + "." + member;
}

std::string why_no_member(const std::string& dataset, const ValueType& type) {
  std::string names;
  for (const ValueType::Member& member : type.members) {
    names += (names.empty() ? "\"" : ", \"") + member_name(dataset, member.name) + "\"";
  }
  return "found a compound type, expected rules for its members: " + names;
}

TakenWrite take_write(const ProgramHdf5& hdf5, const sidestream_hdf5_write& write, std::size_t n, const Target& of,
                      const arrays::Mapping& mapping) {
  TakenWrite made;
  made.is_time = of.is_time;
  made.index = of.cycle;
  const SpaceSelection in_file = hdf5.file_selection(write.file_spaces[n], write.datasets[n]);
  std::vector<ChosenBox> boxes;
  made.why = choose_boxes(in_file, hdf5.memory_selection(write.memory_spaces[n], in_file), boxes);
  if (!made.why.empty()) {
    made.selection = in_file.text();
    return made;
  }
  take_index(of, in_file.nothing, boxes, made);
  if (!made.why.empty()) return made;
  const ValueType type = hdf5.value_type(write.types[n]);
  take_members(of, type, mapping, boxes, write.buffers[n], made);
  if (made.is_time && made.why.empty() && (type.compound || made.parts[0].part.values() > 1)) {
    made.why = type.compound ? "found a compound type for the time" : "found several values for the time";
  }
  return made;
}

}  // namespace sidestream::interposed
