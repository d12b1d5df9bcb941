#include "program_hdf5.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <sidestream/error.hpp>

namespace sidestream::interposed {

namespace {

// Numbers of HDF5 that are the same in all versions since 1.10.
constexpr Id everything = 0, default_list = 0, one_block = 1;  // H5S_ALL, H5P_DEFAULT, H5S_BLOCK
enum SpaceClass { scalar_space = 0, simple_space = 1 };
enum SelectType { selected_none = 0, selected_points = 1, selected_boxes = 2, selected_all = 3 };
enum TypeClass { integer_class = 0, float_class = 1, compound_class = 6 };
constexpr int little_endian = 0, collective_mode = 1, file_kind = 1;
constexpr std::uint64_t unlimited = ~std::uint64_t{0};

/// Lists that are read of a selection. Longer ones would take more memory than the values.
constexpr std::int64_t most_listed = std::int64_t{1} << 24;

std::vector<Index> indices(const std::vector<std::uint64_t>& numbers) { return {numbers.begin(), numbers.end()}; }

/// The offset of a selection along each axis. Its bounds include it, its lists do not. `low`: the lower bounds;
/// `lists`: the places along each axis, and again after every `step` numbers.
std::vector<Index> offsets_of(std::vector<Index> low, const std::vector<std::uint64_t>& lists, std::size_t step) {
  for (std::size_t a = 0; a < low.size(); ++a) {
    std::uint64_t least = lists[a];
    for (std::size_t n = a; n < lists.size(); n += step) least = std::min(least, lists[n]);
    low[a] -= static_cast<Index>(least);
  }
  return low;
}

}  // namespace

/// Switches the printing of errors off, and what the program has set on again.
class ProgramHdf5::Quiet {
 public:
  explicit Quiet(const ProgramHdf5& hdf5) : hdf5_(hdf5) {
    hdf5_.get_auto_(0, &function_, &data_);
    hdf5_.set_auto_(0, nullptr, nullptr);
  }
  ~Quiet() {
    hdf5_.clear_(0);
    hdf5_.set_auto_(0, function_, data_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  const ProgramHdf5& hdf5_;
  void *function_ = nullptr, *data_ = nullptr;
};

template <class Function>
void ProgramHdf5::find(void* handle, Function*& function, const char* name, bool needed) {
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
  if (function == nullptr && needed) throw Error(Code::system, std::string("the program's HDF5 has no ") + name);
}

ProgramHdf5::ProgramHdf5(const sidestream_hdf5_library& library) {
  void* const handle = library.handle;
  unsigned major = 0, minor = 0, release = 0;
  find(handle, get_version_, "H5get_libversion");
  get_version_(&major, &minor, &release);
  version_ = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  if (major < 1 || (major == 1 && minor < 10)) {
    throw Error(Code::system, std::string(library.file) + ": found HDF5 " + version_ +
                                  ", expected 1.10 or later; nothing that goes through it is published");
  }
  find(handle, get_auto_, "H5Eget_auto2");
  find(handle, set_auto_, "H5Eset_auto2");
  find(handle, clear_, "H5Eclear2");
  find(handle, kind_, "H5Iget_type");
  find(handle, references_, "H5Iget_ref");
  find(handle, file_name_, "H5Fget_name");
  find(handle, path_, "H5Iget_name");
  find(handle, space_of_, "H5Dget_space");
  find(handle, close_space_, "H5Sclose");
  find(handle, space_class_, "H5Sget_simple_extent_type");
  find(handle, axes_, "H5Sget_simple_extent_ndims");
  find(handle, dims_, "H5Sget_simple_extent_dims");
  find(handle, select_type_, "H5Sget_select_type");
  find(handle, is_regular_, "H5Sis_regular_hyperslab");
  find(handle, hyperslab_, "H5Sget_regular_hyperslab");
  find(handle, bounds_, "H5Sget_select_bounds");
  find(handle, points_, "H5Sget_select_npoints");
  find(handle, box_count_, "H5Sget_select_hyper_nblocks");
  find(handle, box_list_, "H5Sget_select_hyper_blocklist");
  find(handle, point_count_, "H5Sget_select_elem_npoints");
  find(handle, point_list_, "H5Sget_select_elem_pointlist");
  find(handle, type_of_, "H5Dget_type");
  find(handle, close_type_, "H5Tclose");
  find(handle, member_count_, "H5Tget_nmembers");
  find(handle, member_name_, "H5Tget_member_name");
  find(handle, member_offset_, "H5Tget_member_offset");
  find(handle, member_type_, "H5Tget_member_type");
  find(handle, free_, "H5free_memory");
  find(handle, class_, "H5Tget_class");
  find(handle, size_, "H5Tget_size");
  find(handle, order_, "H5Tget_order");
  find(handle, sign_, "H5Tget_sign");
  find(handle, precision_, "H5Tget_precision");
  find(handle, transfer_mode_, "H5Pget_dxpl_mpio", false);  // these are only in parallel libraries
  find(handle, communicator_, "H5Pget_fapl_mpio", false);
}

std::string ProgramHdf5::text_of(std::int64_t (*call)(Id, char*, std::size_t), Id thing) const {
  const std::int64_t length = call(thing, nullptr, 0);
  if (length <= 0) return "";
  std::string text(static_cast<std::size_t>(length), '\0');
  return call(thing, text.data(), text.size() + 1) == length ? text : "";
}

bool ProgramHdf5::is_last_of_file(Id thing) const {
  const Quiet quiet(*this);
  return kind_(thing) == file_kind && references_(thing) == 1;
}

std::string ProgramHdf5::file_of(Id thing) const {
  const Quiet quiet(*this);
  return text_of(file_name_, thing);
}

Dataset ProgramHdf5::dataset(Id dataset) const {
  const Quiet quiet(*this);
  Dataset found;
  const Id space = space_of_(dataset);
  if (space < 0) return found;
  const int axes = axes_(space);
  std::vector<std::uint64_t> now(static_cast<std::size_t>(axes < 0 ? 0 : axes)), most = now;
  if (axes > 0) dims_(space, now.data(), most.data());
  close_space_(space);
  found.file = text_of(file_name_, dataset);
  found.path = text_of(path_, dataset);
  found.size = indices(now);
  for (const std::uint64_t m : most) found.endless.push_back(m == unlimited);
  return found;
}

SpaceSelection ProgramHdf5::selection(Id space) const {
  SpaceSelection made;
  const int kind = space_class_(space), axes = kind == simple_space ? axes_(space) : 0;
  if (kind != scalar_space && (kind != simple_space || axes < 0)) {
    made.why = "a space without values";
    return made;
  }
  std::vector<std::uint64_t> size(static_cast<std::size_t>(axes));
  if (axes > 0) dims_(space, size.data(), nullptr);
  made.size = indices(size);
  const int selected = select_type_(space);
  if (selected == selected_none || points_(space) == 0) {
    made.nothing = true;
  } else if (selected == selected_all || axes == 0) {
    for (const Index n : made.size) made.axes.push_back({0, 1, n, 1});
  } else if (selected == selected_points) {
    read_points(space, made);
  } else if (selected == selected_boxes && is_regular_(space) > 0) {
    read_axes(space, made);
  } else if (selected == selected_boxes) {
    read_boxes(space, made);
  } else {
    made.why = "a selection that HDF5 does not describe";
  }
  return made;
}

std::vector<Index> ProgramHdf5::low_bounds(Id space, std::size_t axes) const {
  std::vector<std::uint64_t> low(axes), high(axes);
  if (bounds_(space, low.data(), high.data()) < 0) return {};
  return indices(low);
}

void ProgramHdf5::read_axes(Id space, SpaceSelection& made) const {
  std::vector<std::uint64_t> start(made.size.size()), stride = start, count = start, block = start;
  const std::vector<Index> low = low_bounds(space, start.size());
  if (hyperslab_(space, start.data(), stride.data(), count.data(), block.data()) < 0 || low.empty()) {
    made.why = "a selection that HDF5 does not describe";
    return;
  }
  // The bounds know the offset of a selection, the hyperslab does not.
  for (std::size_t a = 0; a < start.size(); ++a) {
    made.axes.push_back(
        {low[a], static_cast<Index>(stride[a]), static_cast<Index>(count[a]), static_cast<Index>(block[a])});
  }
}

void ProgramHdf5::read_boxes(Id space, SpaceSelection& made) const {
  made.kind = Selected::boxes;
  const std::size_t axes = made.size.size();
  const std::int64_t count = box_count_(space);
  if (count > most_listed) made.why = "a selection of more than " + std::to_string(most_listed) + " boxes";
  const std::vector<Index> low = low_bounds(space, axes);
  std::vector<std::uint64_t> corners(made.why.empty() && count > 0 ? 2 * axes * static_cast<std::size_t>(count) : 0);
  if (!made.why.empty()) return;
  if (corners.empty() || low.empty() || box_list_(space, 0, static_cast<std::uint64_t>(count), corners.data()) < 0) {
    made.why = "a selection that HDF5 does not describe";
    return;
  }
  const std::vector<Index> offset = offsets_of(low, corners, 2 * axes);
  for (std::size_t n = 0; n < corners.size(); n += 2 * axes) {
    SelectedBox& box = made.boxes.emplace_back();
    for (std::size_t a = 0; a < axes; ++a) {
      box.start.push_back(static_cast<Index>(corners[n + a]) + offset[a]);
      box.count.push_back(static_cast<Index>(corners[n + axes + a] - corners[n + a]) + 1);
    }
  }
}

void ProgramHdf5::read_points(Id space, SpaceSelection& made) const {
  made.kind = Selected::points;
  const std::size_t axes = made.size.size();
  const std::int64_t count = point_count_(space);
  if (count > most_listed) {
    made.why = "a list of more than " + std::to_string(most_listed) + " single points";
    return;
  }
  const std::vector<Index> low = low_bounds(space, axes);
  std::vector<std::uint64_t> numbers(count > 0 ? axes * static_cast<std::size_t>(count) : 0);
  if (numbers.empty() || low.empty() || point_list_(space, 0, static_cast<std::uint64_t>(count), numbers.data()) < 0) {
    made.why = "a selection that HDF5 does not describe";
    return;
  }
  const std::vector<Index> offset = offsets_of(low, numbers, axes);
  made.points = indices(numbers);
  for (std::size_t n = 0; n < numbers.size(); ++n) made.points[n] += offset[n % axes];
}

SpaceSelection ProgramHdf5::file_selection(Id space, Id dataset) const {
  const Quiet quiet(*this);
  if (space != everything) return selection(space);
  const Id own = space_of_(dataset);
  SpaceSelection made = selection(own);
  close_space_(own);
  return made;
}

SpaceSelection ProgramHdf5::memory_selection(Id space, const SpaceSelection& of_file) const {
  if (space == everything) return of_file;
  const Quiet quiet(*this);
  if (space != one_block) return selection(space);
  SpaceSelection made;
  made.size.push_back(of_file.values());
  made.axes.push_back({0, 1, of_file.values(), 1});
  made.nothing = of_file.nothing;
  return made;
}

void ProgramHdf5::add_members(Id type, const std::string& name, std::size_t offset, ValueType& all) const {
  if (class_(type) != compound_class) {
    ValueType::Member& member = all.members.emplace_back();
    member.name = name;
    member.offset = offset;
    member.type = plain_type(type, member.why);
    return;
  }
  for (int n = 0; n < member_count_(type); ++n) {
    const auto number = static_cast<unsigned>(n);
    char* const text = member_name_(type, number);
    const std::string own = text == nullptr ? "" : text;
    if (text != nullptr) free_(text);
    const Id of_member = member_type_(type, number);
    add_members(of_member, name.empty() ? own : name + "." + own, offset + member_offset_(type, number), all);
    close_type_(of_member);
  }
}

ValueType ProgramHdf5::value_type(Id type) const {
  const Quiet quiet(*this);
  ValueType made;
  made.size = size_(type);
  made.compound = class_(type) == compound_class;
  add_members(type, "", 0, made);
  return made;
}

ValueType ProgramHdf5::stored_type(Id dataset) const {
  const Quiet quiet(*this);
  const Id type = type_of_(dataset);
  ValueType made = value_type(type);
  close_type_(type);
  return made;
}

std::optional<Type> ProgramHdf5::plain_type(Id type, std::string& why) const {
  const int kind = class_(type);
  const std::size_t size = size_(type);
  if (kind != integer_class && kind != float_class) {
    why = "values that are no plain numbers (text, enumeration, array or others)";
    return std::nullopt;
  }
  const bool little = order_(type) == little_endian;
  if (size > 1 && little != (std::endian::native == std::endian::little)) {
    why = "numbers in the other byte order";
    return std::nullopt;
  }
  const bool whole = precision_(type) == 8 * size;
  if (kind == float_class) {
    if (whole && size == 4) return Type::float32;
    if (whole && size == 8) return Type::float64;
  } else {
    const bool is_signed = sign_(type) != 0;
    if (whole && size == 1) return is_signed ? Type::int8 : Type::uint8;
    if (whole && size == 2) return is_signed ? Type::int16 : Type::uint16;
    if (whole && size == 4) return is_signed ? Type::int32 : Type::uint32;
    if (whole && size == 8) return is_signed ? Type::int64 : Type::uint64;
  }
  why = "numbers of " + std::to_string(size) + " bytes with " + std::to_string(precision_(type)) + " bits";
  return std::nullopt;
}

bool ProgramHdf5::is_collective(Id transfer) const {
  if (transfer_mode_ == nullptr || transfer == default_list) return false;
  const Quiet quiet(*this);
  int mode = 0;
  return transfer_mode_(transfer, &mode) >= 0 && mode == collective_mode;
}

std::optional<MPI_Comm> ProgramHdf5::communicator(Id access) const {
  if (communicator_ == nullptr || access == default_list) return std::nullopt;
  const Quiet quiet(*this);
  MPI_Comm made = MPI_COMM_NULL;
  if (communicator_(access, nullptr, nullptr) < 0) return std::nullopt;  // another driver
  if (communicator_(access, &made, nullptr) < 0 || made == MPI_COMM_NULL) return std::nullopt;
  return made;
}

}  // namespace sidestream::interposed
