// The HDF5 library of the program, as far as the publisher asks it.
//
// Its functions are found by name in the library itself, whichever version it is: no header of HDF5 is used.
#pragma once

#include <cstdint>
#include <optional>
#include <sidestream/data/type.hpp>
#include <string>
#include <vector>

#include "hooks.h"
#include "ranks.hpp"
#include "selection.hpp"

namespace sidestream::interposed {

/// A number of HDF5 for something open: hid_t.
using Id = std::int64_t;

/// A dataset of the program.
struct Dataset {
  std::string file, path;
  std::vector<Index> size;    ///< along each axis, the slowest first
  std::vector<bool> endless;  ///< the axes that may grow without limit
};

/// The values of a type: one without a name, or the members of a compound type.
struct ValueType {
  struct Member {
    std::string name{};  ///< with a dot before the name of a member in a member
    std::optional<Type> type{};
    std::size_t offset = 0;  ///< in bytes
    std::string why{};       ///< what it is, if it is none of Sidestream's types
  };
  std::size_t size = 0;  ///< in bytes, of all members
  bool compound = false;
  std::vector<Member> members{};
};

/// HDF5's own questions. They leave no error on the program's stack and print none.
class ProgramHdf5 {
 public:
  /// Throws Error(system) if a function is missing or the version is older than 1.10.
  explicit ProgramHdf5(const sidestream_hdf5_library& library);

  /// True if a number is that of an open file, which ends if it is given back once.
  [[nodiscard]] bool is_last_of_file(Id thing) const;
  /// The name of the file that something lies in; empty: there is none.
  [[nodiscard]] std::string file_of(Id thing) const;
  /// A dataset's file and path; both empty if the number is no dataset's.
  [[nodiscard]] Dataset dataset(Id dataset) const;
  /// The values that a write fills and reads. `dataset` is that of the write.
  [[nodiscard]] SpaceSelection file_selection(Id space, Id dataset) const;
  [[nodiscard]] SpaceSelection memory_selection(Id space, const SpaceSelection& of_file) const;
  [[nodiscard]] ValueType value_type(Id type) const;
  /// The type that a dataset has in the file.
  [[nodiscard]] ValueType stored_type(Id dataset) const;
  /// True if a list of properties makes a transfer collective.
  [[nodiscard]] bool is_collective(Id transfer) const;
  /// The communicator of a file, by its list of properties, for `Ranks::taking`; nothing if one process writes it.
  [[nodiscard]] std::optional<MPI_Comm> communicator(Id access) const;
  [[nodiscard]] const std::string& version() const noexcept { return version_; }

 private:
  class Quiet;
  [[nodiscard]] SpaceSelection selection(Id space) const;
  void read_axes(Id space, SpaceSelection& selection) const;
  void read_boxes(Id space, SpaceSelection& selection) const;
  void read_points(Id space, SpaceSelection& selection) const;
  /// The first index of a selection along each axis.
  [[nodiscard]] std::vector<Index> low_bounds(Id space, std::size_t axes) const;
  void add_members(Id type, const std::string& name, std::size_t offset, ValueType& all) const;
  [[nodiscard]] std::optional<Type> plain_type(Id type, std::string& why) const;
  [[nodiscard]] std::string text_of(std::int64_t (*call)(Id, char*, std::size_t), Id thing) const;
  template <class Function>
  void find(void* handle, Function*& function, const char* name, bool needed = true);

  std::string version_;
  int (*get_version_)(unsigned*, unsigned*, unsigned*) = nullptr;
  int (*get_auto_)(Id, void**, void**) = nullptr;
  int (*set_auto_)(Id, void*, void*) = nullptr;
  int (*clear_)(Id) = nullptr;
  int (*kind_)(Id) = nullptr;
  int (*references_)(Id) = nullptr;
  std::int64_t (*file_name_)(Id, char*, std::size_t) = nullptr;
  std::int64_t (*path_)(Id, char*, std::size_t) = nullptr;
  Id (*space_of_)(Id) = nullptr;
  int (*close_space_)(Id) = nullptr;
  int (*space_class_)(Id) = nullptr;
  int (*axes_)(Id) = nullptr;
  int (*dims_)(Id, std::uint64_t*, std::uint64_t*) = nullptr;
  int (*select_type_)(Id) = nullptr;
  int (*is_regular_)(Id) = nullptr;
  int (*hyperslab_)(Id, std::uint64_t*, std::uint64_t*, std::uint64_t*, std::uint64_t*) = nullptr;
  int (*bounds_)(Id, std::uint64_t*, std::uint64_t*) = nullptr;
  std::int64_t (*points_)(Id) = nullptr;
  std::int64_t (*box_count_)(Id) = nullptr;
  int (*box_list_)(Id, std::uint64_t, std::uint64_t, std::uint64_t*) = nullptr;
  std::int64_t (*point_count_)(Id) = nullptr;
  int (*point_list_)(Id, std::uint64_t, std::uint64_t, std::uint64_t*) = nullptr;
  Id (*type_of_)(Id) = nullptr;
  int (*close_type_)(Id) = nullptr;
  int (*member_count_)(Id) = nullptr;
  char* (*member_name_)(Id, unsigned) = nullptr;
  std::size_t (*member_offset_)(Id, unsigned) = nullptr;
  Id (*member_type_)(Id, unsigned) = nullptr;
  int (*free_)(void*) = nullptr;
  int (*class_)(Id) = nullptr;
  std::size_t (*size_)(Id) = nullptr;
  int (*order_)(Id) = nullptr;
  int (*sign_)(Id) = nullptr;
  std::size_t (*precision_)(Id) = nullptr;
  int (*transfer_mode_)(Id, int*) = nullptr;
  int (*communicator_)(Id, MPI_Comm*, void*) = nullptr;
};

}  // namespace sidestream::interposed
