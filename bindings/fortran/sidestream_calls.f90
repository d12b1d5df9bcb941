!> Calls without integers of several kinds and without arrays of values.
module sidestream_calls
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use sidestream_base
  use sidestream_c
  implicit none
  private

  interface sidestream_set_real
    module procedure set_real32, set_real64
  end interface sidestream_set_real
  interface sidestream_get_int
    module procedure get_int32, get_int64
  end interface sidestream_get_int
  interface sidestream_get_real
    module procedure get_real32, get_real64
  end interface sidestream_get_real
  interface sidestream_is_needed
    module procedure is_needed
  end interface sidestream_is_needed
  interface sidestream_signal_values
    module procedure signal_reals, signal_integers
  end interface sidestream_signal_values

  public :: sidestream_is_server, sidestream_serve
  public :: sidestream_close, sidestream_account_so_far, sidestream_set_real
  public :: sidestream_add_rectilinear_mesh, sidestream_add_unstructured_mesh, sidestream_add_points_mesh
  public :: sidestream_add_spectral_mesh, sidestream_set_mesh_array, sidestream_set_periodic, sidestream_set_fixed
  public :: sidestream_add_variable, sidestream_set_variable_attribute, sidestream_start, sidestream_set_owned_points
  public :: sidestream_publish_handle, sidestream_publish_handle_values, sidestream_publish_handles, sidestream_signal
  public :: sidestream_signal_values, sidestream_signal_barrier, sidestream_is_needed
  public :: sidestream_get_int, sidestream_get_real, sidestream_should_end

contains

  ! ---- opening and closing -------------------------------------------------------------------------------------

  logical function sidestream_is_server(session)
    type(sidestream_session), intent(in) :: session
    sidestream_is_server = c_is_server(handle_of(session)) /= 0
  end function sidestream_is_server

  !> True if the run was told to end (`ending:`) and the last end of an iteration was that of its last one: leave the
  !> loop and close. It is the same on every client that has ended as many iterations.
  logical function sidestream_should_end(session)
    type(sidestream_session), intent(in) :: session
    sidestream_should_end = c_should_end(handle_of(session)) /= 0
  end function sidestream_should_end

  subroutine sidestream_serve(session, ierr)
    type(sidestream_session), intent(inout) :: session
    integer, intent(out), optional :: ierr
    call settle(session, c_serve(handle_of(session)), ierr, of_all=.true.)
  end subroutine sidestream_serve

  !> Closes the session. Prints a kept error on standard error if there is no `ierr` to return it.
  subroutine sidestream_close(session, account, ierr)
    type(sidestream_session), intent(inout) :: session
    type(sidestream_account), intent(out), optional :: account
    integer, intent(out), optional :: ierr
    type(c_account) :: found
    found = no_account()
    call close_session(session, found, ierr)
    if (present(account)) account = account_of(found)
  end subroutine sidestream_close

  subroutine sidestream_account_so_far(session, account, ierr)
    type(sidestream_session), intent(inout) :: session
    type(sidestream_account), intent(out) :: account
    integer, intent(out), optional :: ierr
    type(c_account) :: found
    found = no_account()
    call settle(session, c_account_so_far(handle_of(session), found), ierr)
    account = account_of(found)
  end subroutine sidestream_account_so_far

  function no_account() result(account)
    type(c_account) :: account
    account%struct_size = c_sizeof(account)
  end function no_account

  pure function account_of(from) result(account)
    type(c_account), intent(in) :: from
    type(sidestream_account) :: account
    account = sidestream_account(from%iterations, from%delivered, from%refused, from%failed, from%unknown, &
                                 from%absent_blocks, from%bytes_published, from%dropped, from%spilled, from%bytes_spilled)
  end function account_of

  ! ---- declaring -----------------------------------------------------------------------------------------------

  subroutine set_real64(session, name, value, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: value
    integer, intent(out), optional :: ierr
    call settle(session, c_set_real(handle_of(session), trim(name) // c_null_char, value), ierr)
  end subroutine set_real64

  subroutine set_real32(session, name, value, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    real(real32), intent(in) :: value
    integer, intent(out), optional :: ierr
    call set_real64(session, name, real(value, real64), ierr)
  end subroutine set_real32

  !> The nodes of each axis that the mesh has.
  subroutine sidestream_add_rectilinear_mesh(session, name, x, y, z, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: x(:)
    real(real64), intent(in), optional :: y(:), z(:)
    integer, intent(out), optional :: ierr
    type(c_ptr) :: axes(3)
    real(real64), allocatable, target :: nodes(:, :)
    integer(c_int64_t) :: cells(3)
    integer :: dimensions, most
    cells = 0
    cells(1) = size(x) - 1
    dimensions = 1
    if (present(y)) dimensions = 2
    if (present(z)) dimensions = 3
    if (present(z) .and. .not. present(y)) then
      call misuse(session, 'add_rectilinear_mesh: z is given without y; a mesh of two axes has x and y', ierr)
      return
    end if
    if (present(y)) cells(2) = size(y) - 1
    if (present(z)) cells(3) = size(z) - 1
    most = int(maxval(cells)) + 1
    allocate (nodes(max(1, most), 3), source=0.0_real64)
    nodes(:size(x), 1) = x
    if (present(y)) nodes(:size(y), 2) = y
    if (present(z)) nodes(:size(z), 3) = z
    axes = [c_loc(nodes(1, 1)), c_loc(nodes(1, 2)), c_loc(nodes(1, 3))]
    call settle(session, c_add_rectilinear_mesh(handle_of(session), trim(name) // c_null_char, &
                                                int(dimensions, c_int), cells, axes), ierr)
  end subroutine sidestream_add_rectilinear_mesh

  subroutine sidestream_add_unstructured_mesh(session, name, dimensions, coordinates, connectivity, offsets, types, &
                                              ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name, coordinates, connectivity, offsets, types
    integer, intent(in) :: dimensions
    integer, intent(out), optional :: ierr
    call settle(session, c_add_unstructured_mesh(handle_of(session), trim(name) // c_null_char, &
                                                 int(dimensions, c_int), trim(coordinates) // c_null_char, &
                                                 trim(connectivity) // c_null_char, trim(offsets) // c_null_char, &
                                                 trim(types) // c_null_char), ierr)
  end subroutine sidestream_add_unstructured_mesh

  subroutine sidestream_add_points_mesh(session, name, dimensions, coordinates, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name, coordinates
    integer, intent(in) :: dimensions
    integer, intent(out), optional :: ierr
    call settle(session, c_add_points_mesh(handle_of(session), trim(name) // c_null_char, int(dimensions, c_int), &
                                           trim(coordinates) // c_null_char), ierr)
  end subroutine sidestream_add_points_mesh

  !> A mesh of spectral elements; continuous unless that is .false.
  subroutine sidestream_add_spectral_mesh(session, name, dimensions, continuous, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    integer, intent(in) :: dimensions
    logical, intent(in), optional :: continuous
    integer, intent(out), optional :: ierr
    integer(c_int) :: shares
    shares = 1
    if (present(continuous)) shares = merge(1_c_int, 0_c_int, continuous)
    call settle(session, c_add_spectral_mesh(handle_of(session), trim(name) // c_null_char, int(dimensions, c_int), &
                                             shares), ierr)
  end subroutine sidestream_add_spectral_mesh

  subroutine sidestream_set_mesh_array(session, mesh, role, variable, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: mesh, variable
    integer, intent(in) :: role
    integer, intent(out), optional :: ierr
    call settle(session, c_set_mesh_array(handle_of(session), trim(mesh) // c_null_char, int(role, c_int), &
                                          trim(variable) // c_null_char), ierr)
  end subroutine sidestream_set_mesh_array

  !> `periodic` has an entry for each axis of the mesh.
  subroutine sidestream_set_periodic(session, mesh, periodic, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: mesh
    logical, intent(in) :: periodic(:)
    integer, intent(out), optional :: ierr
    integer(c_int) :: of_axes(3)
    integer :: axes
    if (size(periodic) > 3) then
      call misuse(session, 'set_periodic: more than 3 entries; give one for each axis of the mesh', ierr)
      return
    end if
    of_axes = 0
    axes = size(periodic)
    where (periodic) of_axes(:axes) = 1
    call settle(session, c_set_periodic(handle_of(session), trim(mesh) // c_null_char, of_axes), ierr)
  end subroutine sidestream_set_periodic

  subroutine sidestream_set_fixed(session, mesh, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: mesh
    integer, intent(out), optional :: ierr
    call settle(session, c_set_fixed(handle_of(session), trim(mesh) // c_null_char), ierr)
  end subroutine sidestream_set_fixed

  !> No two blocks share points; size and blocks then count points.
  subroutine sidestream_set_owned_points(session, mesh, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: mesh
    integer, intent(out), optional :: ierr
    call settle(session, c_set_owned_points(handle_of(session), trim(mesh) // c_null_char), ierr)
  end subroutine sidestream_set_owned_points

  !> Defaults: in the cells, of one component, in column order.
  subroutine sidestream_add_variable(session, name, mesh, type, centering, components, order, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name, mesh
    integer, intent(in) :: type
    integer, intent(in), optional :: centering, components, order
    integer, intent(out), optional :: ierr
    integer(c_int) :: how(3)
    how = [SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN]
    if (present(centering)) how(1) = int(centering, c_int)
    if (present(components)) how(2) = int(components, c_int)
    if (present(order)) how(3) = int(order, c_int)
    call settle(session, c_add_variable(handle_of(session), trim(name) // c_null_char, trim(mesh) // c_null_char, &
                                        int(type, c_int), how(1), how(2), how(3)), ierr)
  end subroutine sidestream_add_variable

  subroutine sidestream_set_variable_attribute(session, variable, attribute, value, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: variable, attribute, value
    integer, intent(out), optional :: ierr
    call settle(session, c_set_variable_attribute(handle_of(session), trim(variable) // c_null_char, &
                                                  trim(attribute) // c_null_char, trim(value) // c_null_char), ierr)
  end subroutine sidestream_set_variable_attribute

  subroutine sidestream_start(session, ierr)
    type(sidestream_session), intent(inout) :: session
    integer, intent(out), optional :: ierr
    call settle(session, c_start(handle_of(session)), ierr, of_all=.true.)
  end subroutine sidestream_start

  ! ---- publishing ----------------------------------------------------------------------------------------------

  !> `data` is the address of a contiguous array in the variable's order, components first; it is not checked.
  subroutine sidestream_publish_handle(session, handle, data, ierr)
    type(sidestream_session), intent(inout) :: session
    integer(int64), intent(in) :: handle
    type(c_ptr), intent(in) :: data
    integer, intent(out), optional :: ierr
    call settle(session, c_publish_handle(handle_of(session), handle, data), ierr)
  end subroutine sidestream_publish_handle

  !> Publishes with a check: `data` is the address of `count` elements of `type` (SIDESTREAM_FLOAT64 ...), which are
  !> compared with the declaration.
  subroutine sidestream_publish_handle_values(session, handle, type, data, count, ierr)
    type(sidestream_session), intent(inout) :: session
    integer(int64), intent(in) :: handle
    integer, intent(in) :: type
    type(c_ptr), intent(in) :: data
    integer(int64), intent(in) :: count
    integer, intent(out), optional :: ierr
    call settle(session, c_publish_handle_values(handle_of(session), handle, int(type, c_int), data, count), ierr)
  end subroutine sidestream_publish_handle_values

  subroutine sidestream_publish_handles(session, handles, data, ierr)
    type(sidestream_session), intent(inout) :: session
    integer(int64), intent(in) :: handles(:)
    type(c_ptr), intent(in) :: data(:)
    integer, intent(out), optional :: ierr
    if (size(handles) /= size(data)) then
      call misuse(session, 'publish_handles: not as many handles as addresses; give as many of each', ierr)
      return
    end if
    call settle(session, c_publish_handles(handle_of(session), int(size(handles), c_int), handles, data), ierr)
  end subroutine sidestream_publish_handles

  subroutine sidestream_signal(session, event, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: event
    integer, intent(out), optional :: ierr
    call settle(session, c_signal(handle_of(session), trim(event) // c_null_char), ierr)
  end subroutine sidestream_signal

  !> Raises an event with values that analyses find among their events: at most 1024 bytes. `scope` says which servers
  !> see it.
  subroutine signal_reals(session, event, values, scope, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: event
    real(real64), intent(in) :: values(:)
    integer, intent(in), optional :: scope
    integer, intent(out), optional :: ierr
    real(real64), target :: own(max(size(values), 1))  ! an empty array has no address
    own(:size(values)) = values
    call signal_some(session, event, SIDESTREAM_FLOAT64, c_loc(own), size(values), scope, ierr)
  end subroutine signal_reals

  subroutine signal_integers(session, event, values, scope, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: event
    integer(int64), intent(in) :: values(:)
    integer, intent(in), optional :: scope
    integer, intent(out), optional :: ierr
    integer(int64), target :: own(max(size(values), 1))
    own(:size(values)) = values
    call signal_some(session, event, SIDESTREAM_INT64, c_loc(own), size(values), scope, ierr)
  end subroutine signal_integers

  subroutine signal_some(session, event, kind, values, count, scope, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: event
    integer, intent(in) :: kind, count
    type(c_ptr), intent(in) :: values
    integer, intent(in), optional :: scope
    integer, intent(out), optional :: ierr
    integer(c_int) :: whose
    whose = int(SIDESTREAM_SCOPE_ALL, c_int)
    if (present(scope)) whose = int(scope, c_int)
    call settle(session, c_signal_values(handle_of(session), trim(event) // c_null_char, whose, int(kind, c_int), &
      values, int(count, c_int64_t)), ierr)
  end subroutine signal_some

  !> Reaches a barrier and continues: the event is raised on all servers once all clients have reached it.
  subroutine sidestream_signal_barrier(session, event, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: event
    integer, intent(out), optional :: ierr
    call settle(session, c_signal_barrier(handle_of(session), trim(event) // c_null_char), ierr)
  end subroutine sidestream_signal_barrier

  !> False if nothing that the servers run reads the variable in the open iteration; true where that is not known before.
  !> With a third argument `cycle`, the one that the end of the iteration will get, more is known.
  subroutine is_needed(session, variable, needed, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: variable
    logical, intent(out) :: needed
    integer, intent(out), optional :: ierr
    integer(c_int) :: found
    found = 1
    call settle(session, c_is_needed(handle_of(session), trim(variable) // c_null_char, c_null_ptr, found), ierr)
    needed = found /= 0
  end subroutine is_needed

  !> A steered parameter, as of the last end of an iteration: the same on every client. A value that does not fit an
  !> integer of 32 bits becomes the nearest one that does: give the parameter a range.
  subroutine get_int32(session, name, value, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    integer(int32), intent(inout) :: value
    integer, intent(out), optional :: ierr
    integer(int64) :: wide
    wide = value
    call get_int64(session, name, wide, ierr)
    value = int(max(min(wide, int(huge(value), int64)), -int(huge(value), int64) - 1_int64), int32)
  end subroutine get_int32

  subroutine get_int64(session, name, value, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    integer(int64), intent(inout) :: value
    integer, intent(out), optional :: ierr
    call settle(session, c_get_int(handle_of(session), trim(name) // c_null_char, value), ierr)
  end subroutine get_int64

  subroutine get_real32(session, name, value, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    real(real32), intent(inout) :: value
    integer, intent(out), optional :: ierr
    real(real64) :: wide
    wide = value
    call get_real64(session, name, wide, ierr)
    value = real(wide, real32)
  end subroutine get_real32

  subroutine get_real64(session, name, value, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: name
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: ierr
    call settle(session, c_get_real(handle_of(session), trim(name) // c_null_char, value), ierr)
  end subroutine get_real64
end module sidestream_calls
