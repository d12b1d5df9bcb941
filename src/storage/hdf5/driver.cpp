// A driver (virtual file layer) for HDF5 that writes by pread and pwrite, and hides failures from HDF5.
//
// The driver keeps the first error number and reports success from then on, writing nothing more; File checks it
// (Driver::failure). So a full disk is an error with its number, and HDF5 can still close the file. Its functions are
// called from C, so no exception may leave them.
#include "sidestream/kit/storage/hdf5/file.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <new>

#include "sidestream/kit/base/files.hpp"
#include "storage/hdf5/properties.hpp"
// Since 1.13.1 a separate header has the declarations for drivers.
#if H5_VERSION_GE(1, 13, 1)
#include <H5FDdevelop.h>
#endif

namespace sidestream::hdf5 {

namespace {

/// Argument that HDF5 passes to `open_file` through the access property list.
struct Info {
  int* failure = nullptr;
};

/// An open file. HDF5's part is the first member, because HDF5 passes pointers to it.
struct OpenFile {
  H5FD_t common{};
  int descriptor = -1;
  haddr_t allocated = 0, written = 0;  ///< ends of the allocated space and of the written bytes
  int* failure = nullptr;
};

OpenFile& ours(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& ours(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

/// Keeps the first error number.
void note(int& failure, int error_number) {
  if (failure == 0) failure = error_number;
}

int descriptor_for(const char* name, unsigned flags) noexcept {
  try {
    return (flags & H5F_ACC_TRUNC) != 0 ? create_anew(name, O_RDWR) : open_existing(name, O_RDWR);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return -1;
  }
}

extern "C" {

static H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t) {
  const auto* info = static_cast<const Info*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  // No exception may pass through HDF5: it is written in C, and its call would stop half way.
  std::unique_ptr<OpenFile> file(new (std::nothrow) OpenFile);
  if (!file) {
    note(*info->failure, ENOMEM);
    return nullptr;
  }
  const int descriptor = descriptor_for(name, flags);
  if (descriptor < 0) {
    // HDF5 tries to open a file before it creates it; that failure does not count.
    if ((flags & H5F_ACC_TRUNC) != 0) note(*info->failure, errno);
    return nullptr;
  }
  file->descriptor = descriptor;
  file->failure = info->failure;
  return &file.release()->common;
}

static herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<OpenFile> owned(&ours(file));
  // Network file systems report a full disk here at the earliest.
  if (::close(owned->descriptor) != 0 && errno != EINTR) note(*owned->failure, errno);
  return 0;
}

static herr_t query_features(const H5FD_t*, unsigned long* flags) {
  // As in HDF5's own driver for plain files: small writes are aggregated.
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA_WRITE | H5FD_FEAT_ACCUMULATE_METADATA_READ |
           H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

static haddr_t get_allocated(const H5FD_t* file, H5FD_mem_t) { return ours(file).allocated; }

static herr_t set_allocated(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  ours(file).allocated = address;
  return 0;
}

static haddr_t get_written(const H5FD_t* file, H5FD_mem_t) { return ours(file).written; }

static herr_t read_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t count = ::pread(ours(file).descriptor, to, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) note(*ours(file).failure, errno);
    if (count <= 0) break;
    to += count;
    size -= static_cast<size_t>(count);
    address += static_cast<haddr_t>(count);
  }
  // Space that was allocated but not written reads as zeros.
  std::memset(to, 0, size);
  return 0;
}

static herr_t write_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer) {
  OpenFile& f = ours(file);
  const auto* from = static_cast<const char*>(buffer);
  f.written = address + size > f.written ? address + size : f.written;
  while (size > 0 && *f.failure == 0) {
    const ssize_t count = ::pwrite(f.descriptor, from, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      note(*f.failure, errno);
      break;
    }
    from += count;
    size -= static_cast<size_t>(count);
    address += static_cast<haddr_t>(count);
  }
  return 0;
}

static herr_t truncate_file(H5FD_t* file, hid_t, hbool_t) {
  OpenFile& f = ours(file);
  if (f.allocated == f.written) return 0;
  if (*f.failure == 0 && ::ftruncate(f.descriptor, static_cast<off_t>(f.allocated)) != 0) {
    note(*f.failure, errno);
  }
  f.written = f.allocated;
  return 0;
}

}  // extern "C"

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 1)
  driver.version = H5FD_CLASS_VERSION;
  // This number is in the range for drivers that are not registered with the HDF Group.
  driver.value = static_cast<H5FD_class_value_t>(300);
#endif
  driver.name = "sidestream";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(Info);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query_features;
  driver.get_eoa = get_allocated;
  driver.set_eoa = set_allocated;
  driver.get_eof = get_written;
  driver.read = read_file;
  driver.write = write_file;
  driver.truncate = truncate_file;
  const H5FD_mem_t separate_metadata[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::memcpy(driver.fl_map, separate_metadata, sizeof separate_metadata);
  return driver;
}

Handle registered(const std::string& path) {
  const H5FD_class_t driver = driver_class();
  return {H5FDregister(&driver), H5FDunregister, "set up", path};
}

}  // namespace

Driver::Driver(const std::string& path) : id_(registered(path)) {}

void Driver::use(const Handle& access, const std::string& path) {
  const Info info{failure_.get()};
  check(H5Pset_driver(access.id(), id_.id(), &info), "set up", path);
}

}  // namespace sidestream::hdf5
