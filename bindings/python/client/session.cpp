#include "session.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <deque>
#include <string_view>

#include "array.hpp"
#include "mpi_handle.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream_python {

namespace {

bool alike(const Arranged& a, const Arranged& b) {
  return a.type == b.type && a.rank == b.rank &&
         std::equal(a.extents.begin(), a.extents.begin() + a.rank, b.extents.begin()) &&
         std::equal(a.strides.begin(), a.strides.begin() + a.rank, b.strides.begin());
}

nb::dlpack::dtype dtype_of(sidestream_type type) {
  return sidestream::with_type(static_cast<sidestream::Type>(type),
                               [](auto zero) { return nb::dtype<decltype(zero)>(); });
}

Numbers numbers_of(const sidestream_account& account) {
  return {account.iterations, account.delivered,
          account.refused,    account.failed,
          account.unknown,    account.absent_blocks,
          account.dropped,    static_cast<std::int64_t>(account.bytes_published),
          account.spilled,    static_cast<std::int64_t>(account.bytes_spilled)};
}

}  // namespace

Session::Session(std::uintptr_t comm, const std::optional<std::string>& given, bool is_text) {
  const nb::gil_scoped_release released;
  const char* const what = given ? given->c_str() : nullptr;
  const auto all = handle_of<MPI_Comm>(comm);
  const int code = is_text ? sidestream_open_text(all, what, &session_) : sidestream_open(all, what, &session_);
  static_cast<void>(taken(nullptr, code));
}

sidestream_session* Session::open(const char* call) const {
  if (!session_) misuse(std::string(call) + ": the session is closed; open another one");
  return session_;
}

std::uintptr_t Session::comm() const { return number_of(sidestream_comm(open("comm"))); }

void Session::serve() {
  sidestream_session* const session = open("serve");
  const nb::gil_scoped_release released;
  static_cast<void>(taken(session, sidestream_serve(session)));
}

Numbers Session::account() const {
  sidestream_account account{};
  account.struct_size = sizeof account;
  sidestream_session* const session = open("account");
  static_cast<void>(taken(session, sidestream_account_so_far(session, &account)));
  return numbers_of(account);
}

Numbers Session::close() {
  sidestream_account account{};
  account.struct_size = sizeof account;
  static_cast<void>(open("close"));
  lent_.clear();
  described_.clear();
  const Memory kept = std::exchange(memory_, nullptr);  // until the session is closed
  const nb::gil_scoped_release released;
  static_cast<void>(taken(nullptr, sidestream_close_with_account(&session_, &account)));
  return numbers_of(account);
}

void Session::start() {
  sidestream_session* const session = open("start");
  const nb::gil_scoped_release released;
  static_cast<void>(taken(session, sidestream_start(session)));
}

const sidestream_description& Session::described(const char* call, const char* variable, std::int64_t block) {
  const auto found = described_.find(std::string_view(variable));
  if (found != described_.end()) return found->second;
  sidestream_description description{};
  description.struct_size = sizeof description;
  int code = SIDESTREAM_OK;
  {
    // This may start the session, together with the other clients.
    const nb::gil_scoped_release released;
    code = sidestream_describe_variable(session_, variable, &description);
  }
  if (code != SIDESTREAM_OK) {
    const std::string asked = "describe_variable: ";
    std::string message = sidestream_message(session_);
    if (message.rfind(asked, 0) == 0) message.replace(0, asked.size(), std::string(call) + ": ");
    refuse(variable, block);  // like a publication that fails
    throw Failure{code, std::move(message)};
  }
  return described_.emplace(variable, description).first->second;
}

/// Makes a publication that fails.
void Session::refuse(const char* variable, std::int64_t block) {
  static_cast<void>(
      sidestream_publish_array(session_, variable, block, SIDESTREAM_FLOAT64, nullptr, -1, nullptr, nullptr, -1));
}

/// Refuses the iteration if this module finds an error, as if the library had found it.
template <class Work>
auto Session::or_refuse(const char* variable, std::int64_t block, Work&& work) {
  try {
    return work();
  } catch (const Failure&) {
    refuse(variable, block);
    throw;
  }
}

/// Adds NumPy's shape to the message where C found another shape than it expected.
bool Session::taken_or_shown(int code, const Py_buffer& view, sidestream_order order) {
  const std::string_view message = code == SIDESTREAM_ERROR_USAGE ? sidestream_message(session_) : "";
  if (message.find("the array for") == std::string_view::npos) return taken(session_, code);
  misuse(std::string(message) + " (sizes are along i, j, k; the shape of the array is " + shape_text(view) +
         ", along " + (order == SIDESTREAM_COLUMN ? "k, j, i" : "i, j, k") + ")");
}

bool Session::publish(const char* variable, std::int64_t block, nb::handle array, int component_axis) {
  sidestream_session* const session = open("publish");
  const sidestream_description& declared = described("publish", variable, block);
  std::optional<Buffer> buffer;
  or_refuse(variable, block, [&] { buffer.emplace(array.ptr(), variable); });
  const Py_buffer& view = buffer->view();
  const Arranged a =
      or_refuse(variable, block, [&] { return arrange(view, array.ptr(), variable, declared, component_axis); });
  const int code = letting_others_run([&] {
    return sidestream_publish_array(session, variable, block, a.type, a.data, a.rank, a.extents.data(),
                                    a.strides.data(), -1);
  });
  return taken_or_shown(code, view, declared.order);
}

bool Session::publish_values(const char* variable, std::int64_t block, nb::handle array) {
  sidestream_session* const session = open("publish_values");
  static_cast<void>(described("publish_values", variable, block));
  std::optional<Buffer> buffer;
  or_refuse(variable, block, [&] { buffer.emplace(array.ptr(), variable); });
  const Flat values = or_refuse(variable, block, [&] { return flat(buffer->view(), array.ptr(), variable); });
  const int code = letting_others_run(
      [&] { return sidestream_publish_values(session, variable, block, values.type, values.data, values.count); });
  return taken(session, code);
}

bool Session::publish_components(const char* variable, std::int64_t block, const std::vector<nb::object>& arrays) {
  sidestream_session* const session = open("publish");
  const sidestream_description& declared = described("publish", variable, block);
  std::deque<Buffer> buffers;
  std::vector<const void*> data;
  Arranged first{};
  or_refuse(variable, block, [&] {
    if (arrays.empty()) misuse("publish: no array for '" + std::string(variable) + "'; pass one of each component");
    for (const nb::object& array : arrays) {
      buffers.emplace_back(array.ptr(), variable);
      const Py_buffer& view = buffers.back().view();
      const Arranged a = arrange(view, array.ptr(), variable, declared, -1);
      if (data.empty()) first = a;
      if (!alike(a, first)) {
        misuse("publish: the arrays of the components of '" + std::string(variable) +
               "' differ in dtype, shape or strides; pass arrays that are alike");
      }
      data.push_back(a.data);
    }
  });
  const int code = letting_others_run([&] {
    return sidestream_publish_component_arrays(session, variable, block, first.type, static_cast<int>(data.size()),
                                               data.data(), first.rank, first.extents.data(), first.strides.data());
  });
  return taken_or_shown(code, buffers.front().view(), declared.order);
}

const Session::Memory& Session::kept_in_place() {
  if (memory_) return memory_;
  sidestream_memory* kept = nullptr;
  static_cast<void>(taken(session_, sidestream_keep_memory(session_, &kept)));
  return memory_ = Memory(kept, sidestream_release_memory);
}

nb::object Session::alloc(const char* variable, std::int64_t block) {
  sidestream_session* const session = open("alloc");
  const sidestream_description& declared = described("alloc", variable, block);
  auto loan = std::make_shared<Loan>(kept_in_place());
  sidestream_block memory{};
  memory.struct_size = sizeof memory;
  const int rank = declared.axes + (declared.components > 1 ? 1 : 0);
  int code = SIDESTREAM_OK;
  {
    const nb::gil_scoped_release released;  // the call may wait for room
    code = sidestream_alloc_array(session, variable, block, declared.type, rank, &memory);
  }
  if (!taken(session, code)) return nb::none();
  const Layout layout = layout_of(memory, declared);
  auto kept = std::make_unique<std::shared_ptr<Loan>>(loan);
  const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::shared_ptr<Loan>*>(p); });
  static_cast<void>(kept.release());
  lent_[{variable, block}] = std::move(loan);
  return nb::cast(nb::ndarray<nb::numpy>(const_cast<void*>(memory.data), layout.rank, layout.shape.data(), owner,
                                         layout.strides.data(), dtype_of(memory.type)));
}

void Session::commit(const char* variable, std::int64_t block) {
  plainly("commit", sidestream_commit, variable, block);
}

void Session::clear(const char* variable, std::int64_t block) {
  static_cast<void>(open("clear"));
  const auto found = lent_.find({variable, block});
  if (found != lent_.end() && found->second.use_count() > 1) {
    misuse("clear: the array that alloc gave for block " + std::to_string(block) + " of '" + variable +
           "', or a view of it, is still in use; drop it (del array), then clear");
  }
  plainly("clear", sidestream_clear, variable, block);
  if (found != lent_.end()) lent_.erase(found);
}

void Session::signal(const char* event) { plainly("signal", sidestream_signal, event); }

void Session::signal_values(const char* event, int scope, int type, const char* bytes, std::int64_t count) {
  plainly("signal_values", sidestream_signal_values, event, static_cast<sidestream_scope>(scope),
          static_cast<sidestream_type>(type), static_cast<const void*>(bytes), count);
}

void Session::signal_barrier(const char* event) { plainly("signal_barrier", sidestream_signal_barrier, event); }

std::int64_t Session::get_int(const char* name) {
  std::int64_t value = 0;
  plainly("get_int", sidestream_get_int, name, &value);
  return value;
}

double Session::get_real(const char* name) {
  double value = 0;
  plainly("get_real", sidestream_get_real, name, &value);
  return value;
}

bool Session::is_needed(const char* variable, std::optional<std::int64_t> cycle) {
  sidestream_session* const session = open("is_needed");
  int needed = 1;
  const std::int64_t* const at = cycle ? &*cycle : nullptr;
  static_cast<void>(
      taken(session, letting_others_run([&] { return sidestream_is_needed(session, variable, at, &needed); })));
  return needed != 0;
}

bool Session::end_iteration(std::int64_t cycle, double time) {
  sidestream_session* const session = open("end_iteration");
  const nb::gil_scoped_release released;
  return taken(session, sidestream_end_iteration(session, cycle, time));
}

}  // namespace sidestream_python
