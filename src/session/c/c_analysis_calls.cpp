// Calls for analyses written in C.
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "session/c/c_session.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// The declaration of an option that has a value, or null.
const Option* option_with_value(const sidestream_settings* settings, const char* name) {
  if (!settings || !name) return nullptr;
  for (const Option& option : *settings->options) {
    if (option.name == name) return settings->values->has(name) ? &option : nullptr;
  }
  return nullptr;
}

/// Reads entry n of an option into `value`: with `one`, or with `all` if the option is a list.
template <class T, class One, class All>
int read(const sidestream_settings* settings, const char* name, std::int64_t n, T* value, One one, All all) noexcept {
  if (!value || n < 0) return SIDESTREAM_ERROR_USAGE;
  const int code = shielded(nullptr, [&]() -> int {
    const Option* option = option_with_value(settings, name);
    if (!option || (!option->list && n > 0)) return SIDESTREAM_ERROR_USAGE;
    if (!option->list) {
      *value = one(*settings->values);
      return SIDESTREAM_OK;
    }
    const auto entries = all(*settings->values);
    if (n >= static_cast<std::int64_t>(entries.size())) return SIDESTREAM_ERROR_USAGE;
    *value = entries[static_cast<std::size_t>(n)];
    return SIDESTREAM_OK;
  });
  // The option has another type: the caller's mistake.
  return code == SIDESTREAM_ERROR_INTERNAL ? SIDESTREAM_ERROR_USAGE : code;
}

Selected* add(sidestream_selection* selection, const char* variable, int halo) {
  if (!selection || !variable) return nullptr;
  const Variable* found = selection->metadata->find_variable(variable);
  if (!found || halo < 0) {
    selection->problem = found
                             ? "found a halo of " + std::to_string(halo) + ", expected 0 or more points"
                             : "found the variable '" + std::string(variable) + "', which is not declared; correct it";
    return nullptr;
  }
  return &selection->selection.variables.emplace_back(found->id, halo);
}

template <class Value>
int steer(const sidestream_input* input, const char* name, Value value, char* message) {
  std::string sentence;
  const int code = shielded(&sentence, [&]() -> int {
    if (!name) fail(Code::usage, "steering: the name is NULL; give that of a parameter");
    Steering* steering = input && input->combine ? input->combine->steering : nullptr;
    if (!steering) fail(Code::usage, "steering: '{}' is set outside of `combine`; set it there", name);
    steering->set(name, value);
    return SIDESTREAM_OK;
  });
  if (code == SIDESTREAM_OK) return code;
  if (message) message[sentence.copy(message, SIDESTREAM_MESSAGE_BYTES - 1)] = 0;
  return SIDESTREAM_ERROR_USAGE;
}

/// Block n of a variable in `local`, or null.
const BlockView* block_of(const sidestream_input* input, const char* variable, std::int64_t n) {
  const auto* blocks = input && n >= 0 ? input->blocks(variable) : nullptr;
  return blocks && n < static_cast<std::int64_t>(blocks->size()) ? &(*blocks)[static_cast<std::size_t>(n)] : nullptr;
}

int give(const Box* box, std::int64_t* lo, std::int64_t* hi) {
  if (!box || !lo || !hi) return SIDESTREAM_ERROR_USAGE;
  std::copy(box->lo.begin(), box->lo.end(), lo);
  std::copy(box->hi.begin(), box->hi.end(), hi);
  return SIDESTREAM_OK;
}

int give_one_of(std::vector<Box> BlockView::*boxes, const BlockView* view, std::int64_t n, std::int64_t* lo,
                std::int64_t* hi) {
  const bool there = view && n >= 0 && n < static_cast<std::int64_t>((view->*boxes).size());
  return give(there ? &(view->*boxes)[static_cast<std::size_t>(n)] : nullptr, lo, hi);
}

}  // namespace

}  // namespace sidestream

extern "C" {

using namespace sidestream;

int64_t sidestream_setting_count(const sidestream_settings* settings, const char* option) {
  const Option* found = option_with_value(settings, option);
  if (!found) return 0;
  if (!found->list) return 1;
  try {
    const Settings& values = *settings->values;
    switch (found->type) {
      case OptionType::integer:
      case OptionType::bytes:
        return static_cast<int64_t>(values.integers(option).size());
      case OptionType::real:
        return static_cast<int64_t>(values.reals(option).size());
      default:
        return static_cast<int64_t>(values.texts(option).size());
    }
  } catch (const std::exception&) {
    return 0;  // out of memory
  }
}

int sidestream_setting_boolean(const sidestream_settings* settings, const char* option, int64_t n, int* value) {
  return read(
      settings, option, n, value, [&](const Settings& s) { return s.boolean(option) ? 1 : 0; },
      [](const Settings&) { return std::vector<int>{}; });
}

int sidestream_setting_int(const sidestream_settings* settings, const char* option, int64_t n, int64_t* value) {
  return read(
      settings, option, n, value, [&](const Settings& s) { return s.integer(option); },
      [&](const Settings& s) { return s.integers(option); });
}

int sidestream_setting_real(const sidestream_settings* settings, const char* option, int64_t n, double* value) {
  return read(
      settings, option, n, value, [&](const Settings& s) { return s.real(option); },
      [&](const Settings& s) { return s.reals(option); });
}

int sidestream_setting_text(const sidestream_settings* settings, const char* option, int64_t n, const char** value) {
  std::string text;
  const int code = read(
      settings, option, n, &text, [&](const Settings& s) { return s.text(option); },
      [&](const Settings& s) { return s.texts(option); });
  if (code != SIDESTREAM_OK || !value) return value ? code : static_cast<int>(SIDESTREAM_ERROR_USAGE);
  return shielded(nullptr, [&] {
    *value = settings->texts->emplace_back(std::move(text)).c_str();
    return static_cast<int>(SIDESTREAM_OK);
  });
}

int sidestream_variable(const sidestream_metadata* metadata, const char* name, sidestream_variable_info* info) {
  if (!metadata || !name || !info) return SIDESTREAM_ERROR_USAGE;
  const Variable* found = metadata->metadata->find_variable(name);
  if (!found) return SIDESTREAM_ERROR_USAGE;
  const Mesh& mesh = metadata->metadata->mesh_of(*found);
  const Box points = mesh.points(found->centering);
  sidestream_variable_info whole{};
  whole.type = static_cast<sidestream_type>(found->type);
  whole.components = found->components;
  whole.dimensions = mesh.dimensions;
  std::copy(points.lo.begin(), points.lo.end(), whole.lo);
  std::copy(points.hi.begin(), points.hi.end(), whole.hi);
  fill(*info, whole);
  return SIDESTREAM_OK;
}

int sidestream_select(sidestream_selection* selection, const char* variable, int halo) {
  return shielded(nullptr,
                  [&]() -> int { return add(selection, variable, halo) ? SIDESTREAM_OK : SIDESTREAM_ERROR_USAGE; });
}

int sidestream_select_plane(sidestream_selection* selection, const char* variable, int halo, const double origin[3],
                            const double normal[3]) {
  return shielded(nullptr, [&]() -> int {
    Selected* selected = origin && normal ? add(selection, variable, halo) : nullptr;
    if (!selected) return SIDESTREAM_ERROR_USAGE;
    PlaneCut cut;
    std::copy(origin, origin + 3, cut.origin.begin());
    std::copy(normal, normal + 3, cut.normal.begin());
    selected->part = cut;
    return SIDESTREAM_OK;
  });
}

int sidestream_select_box(sidestream_selection* selection, const char* variable, int halo, const int64_t lo[3],
                          const int64_t hi[3]) {
  return shielded(nullptr, [&]() -> int {
    Selected* selected = lo && hi ? add(selection, variable, halo) : nullptr;
    if (!selected) return SIDESTREAM_ERROR_USAGE;
    InBox in;
    std::copy(lo, lo + 3, in.cells.lo.begin());
    std::copy(hi, hi + 3, in.cells.hi.begin());
    selected->part = in;
    return SIDESTREAM_OK;
  });
}

int sidestream_select_level(sidestream_selection* selection, const char* variable, int halo, int level) {
  return shielded(nullptr, [&]() -> int {
    Selected* selected = add(selection, variable, halo);
    if (!selected) return SIDESTREAM_ERROR_USAGE;
    selected->part = OnLevel{level};
    return SIDESTREAM_OK;
  });
}

int sidestream_select_values(sidestream_selection* selection, const char* variable, int halo, int component,
                             int64_t count, const double* values) {
  return shielded(nullptr, [&]() -> int {
    Selected* selected = values && count > 0 ? add(selection, variable, halo) : nullptr;
    if (!selected) return SIDESTREAM_ERROR_USAGE;
    selected->part = ValuesBracketed{{values, values + count}, {selected->variable, component}};
    return SIDESTREAM_OK;
  });
}

int sidestream_select_pieces(sidestream_selection* selection, const char* variable, int halo,
                             sidestream_decomposition decomposition, int axis) {
  return shielded(nullptr, [&]() -> int {
    Selected* selected = add(selection, variable, halo);
    if (!selected) return SIDESTREAM_ERROR_USAGE;
    selected->decomposition = {static_cast<Decomposition::Kind>(decomposition), axis};
    if (decomposition >= SIDESTREAM_SLABS && decomposition <= SIDESTREAM_BRICKS) return SIDESTREAM_OK;
    selection->problem = "found pieces of kind " + std::to_string(static_cast<int>(decomposition)) +
                         ", expected a sidestream_decomposition";
    return SIDESTREAM_ERROR_USAGE;
  });
}

int sidestream_select_wrap(sidestream_selection* selection, int wrap) {
  if (!selection || selection->selection.variables.empty()) return SIDESTREAM_ERROR_USAGE;
  selection->selection.variables.back().wrap = wrap != 0;
  return SIDESTREAM_OK;
}

int sidestream_select_ghosts(sidestream_selection* selection, int ghosts) {
  if (!selection || selection->selection.variables.empty()) return SIDESTREAM_ERROR_USAGE;
  selection->selection.variables.back().ghosts = ghosts != 0;
  return SIDESTREAM_OK;
}

int sidestream_select_covered(sidestream_selection* selection, int covered) {
  if (!selection || selection->selection.variables.empty()) return SIDESTREAM_ERROR_USAGE;
  selection->selection.variables.back().covered = covered != 0;
  return SIDESTREAM_OK;
}

void* sidestream_bytes_resize(sidestream_bytes* bytes, size_t size) {
  if (!bytes) return nullptr;
  try {
    bytes->bytes.reserve(std::max<std::size_t>(size, 1));  // never NULL, even without bytes
    bytes->bytes.resize(size);
    return bytes->bytes.data();
  } catch (const std::exception&) {
    return nullptr;
  }
}

int sidestream_bytes_append(sidestream_bytes* bytes, const void* data, size_t size) {
  if (!bytes || (!data && size > 0)) return SIDESTREAM_ERROR_USAGE;
  return shielded(nullptr, [&] {
    const auto* at = static_cast<const std::byte*>(data);
    bytes->bytes.insert(bytes->bytes.end(), at, at + size);
    return static_cast<int>(SIDESTREAM_OK);
  });
}

int sidestream_input_pass(const sidestream_input* input) {
  return input->local ? input->local->pass : input->combine ? input->combine->pass : 0;
}

const void* sidestream_input_feedback(const sidestream_input* input, size_t* size) {
  const BytesView feedback = input->local ? input->local->feedback : BytesView{};
  if (size) *size = feedback.size();
  return feedback.data();
}

int sidestream_input_server(const sidestream_input* input, int* servers) {
  if (!input->local) return -1;
  if (servers) *servers = input->local->servers;
  return input->local->server;
}

const sidestream_input* sidestream_input_entry(const sidestream_input* input, int64_t n) {
  const bool there =
      input && input->local && input->entries && n >= 0 && n < static_cast<int64_t>(input->local->entries.size());
  return there ? &input->entries[n] : nullptr;
}

int64_t sidestream_block_absent_count(const sidestream_input* input, const char* variable, int64_t n) {
  const BlockView* view = block_of(input, variable, n);
  return view ? static_cast<int64_t>(view->absent.size()) : 0;
}

int sidestream_block_absent(const sidestream_input* input, const char* variable, int64_t n, int64_t box, int64_t lo[3],
                            int64_t hi[3]) {
  return give_one_of(&BlockView::absent, block_of(input, variable, n), box, lo, hi);
}

int sidestream_block_points(const sidestream_input* input, const char* variable, int64_t n, int64_t lo[3],
                            int64_t hi[3]) {
  const BlockView* view = block_of(input, variable, n);
  return give(view ? &view->points : nullptr, lo, hi);
}

int64_t sidestream_block_owned_count(const sidestream_input* input, const char* variable, int64_t n) {
  const BlockView* view = block_of(input, variable, n);
  return view ? static_cast<int64_t>(view->owned.size()) : 0;
}

int sidestream_block_owned(const sidestream_input* input, const char* variable, int64_t n, int64_t box, int64_t lo[3],
                           int64_t hi[3]) {
  return give_one_of(&BlockView::owned, block_of(input, variable, n), box, lo, hi);
}

int64_t sidestream_block_gather(const sidestream_input* input, const char* variable, int64_t n, const int64_t lo[3],
                                const int64_t hi[3], int component, double* out) {
  const BlockView* view = block_of(input, variable, n);
  if (!view || !lo || !hi || !out || component < 0 || component >= view->array.components) return -1;
  try {
    Box region;
    std::copy(lo, lo + 3, region.lo.begin());
    std::copy(hi, hi + 3, region.hi.begin());
    return region.empty() ? 0 : view->gather(region, component, out);
  } catch (const std::exception&) {
    return -1;
  }
}

int64_t sidestream_input_partials(const sidestream_input* input) {
  return input->combine ? static_cast<int64_t>(input->combine->partials.size()) : 0;
}

const void* sidestream_input_partial(const sidestream_input* input, int64_t n, size_t* size) {
  if (n < 0 || n >= sidestream_input_partials(input)) {
    if (size) *size = 0;
    return nullptr;
  }
  const Bytes& partial = input->combine->partials[static_cast<std::size_t>(n)];
  if (size) *size = partial.size();
  return partial.data();
}

int sidestream_steer_int(const sidestream_input* input, const char* name, int64_t value, char* message) {
  return sidestream::steer(input, name, value, message);
}

int sidestream_steer_real(const sidestream_input* input, const char* name, double value, char* message) {
  return sidestream::steer(input, name, value, message);
}

MPI_Comm sidestream_input_servers(const sidestream_input* input) {
  return input->combine ? *static_cast<MPI_Comm*>(input->combine->communicator.native()) : MPI_COMM_NULL;
}

}  // extern "C"
