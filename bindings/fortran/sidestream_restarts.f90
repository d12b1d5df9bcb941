!> Restarting from a checkpoint: the functions of sidestream/restart.h, except those for arrays of values, which are in
!> stored_arrays.f90.in.
module sidestream_restarts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  use sidestream_base, only: SIDESTREAM_OK, SIDESTREAM_ERROR_USAGE, SIDESTREAM_FLOAT64, text_of
  use sidestream_restart_c
  implicit none
  private

  !> A checkpoint that was found undamaged. Must not be copied.
  type, public :: sidestream_restart
    private
    type(c_ptr) :: handle = c_null_ptr
    integer :: kept = SIDESTREAM_OK !< the code of an error that has not been reported
    logical :: of_all = .false. !< true if it is the same on every rank
    logical :: speaks = .true. !< for all ranks: rank 0
    character(len=:), allocatable :: kept_text
    character(len=:), allocatable :: message
  end type sidestream_restart

  !> A variable of a checkpoint; see sidestream_stored_variable in restart.h. Boxes are half-open, from 0.
  type, public :: sidestream_stored_variable
    character(len=:), allocatable :: mesh
    integer :: type = SIDESTREAM_FLOAT64, components = 1, centering = 0
    logical :: row_order = .false., is_list = .false.
    integer(int64) :: lo(3) = 0, hi(3) = 0, length = 0
    integer :: role = 0
    character(len=:), allocatable :: unit, label, group, codec
  end type sidestream_stored_variable

  !> A block as it was published; see sidestream_stored_block in restart.h.
  type, public :: sidestream_stored_block
    integer(int64) :: id = -1
    integer :: level = 0, client = -1
    integer(int64) :: lo(3) = 0, hi(3) = 0, points = 0, corners = 0, faces = 0
    logical :: has_bounds = .false.
    real(real64) :: low(3) = 0, high(3) = 0
    integer(int64) :: ratio(3) = 1
  end type sidestream_stored_block

  interface sidestream_restart_open
    module procedure open_newest, open_cycle32, open_cycle64
  end interface sidestream_restart_open
  interface sidestream_restart_iteration
    module procedure iteration32, iteration64
  end interface sidestream_restart_iteration
  interface sidestream_restart_block_count
    module procedure block_count32, block_count64
  end interface sidestream_restart_block_count
  interface sidestream_restart_block
    module procedure block32, block64
  end interface sidestream_restart_block
  public :: sidestream_restart_open, sidestream_restart_close, sidestream_restart_message, sidestream_restart_remarks
  public :: sidestream_restart_iteration, sidestream_restart_mesh_name, sidestream_restart_variable_name
  public :: sidestream_restart_variable, sidestream_restart_block_count, sidestream_restart_block
  public :: sidestream_restart_limit_levels
  ! For the other modules of the library.
  public :: open_restart, restart_handle, settle_restart, misuse_restart, find_restart_block, restart_block_key
  public :: take_variable, take_block, text_or_none

contains

  ! ---- opening and closing -------------------------------------------------------------------------------------

  !> Opens the newest checkpoint in `directory` that is undamaged in every byte. Collective.
  subroutine open_newest(comm, directory, restart, ierr)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: directory
    type(sidestream_restart), intent(out) :: restart
    integer, intent(out), optional :: ierr
    call open_restart(comm, directory, restart, ierr=ierr)
  end subroutine open_newest

  !> Opens the newest checkpoint of this cycle.
  subroutine open_cycle64(comm, directory, cycle, restart, ierr)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: directory
    integer(int64), intent(in) :: cycle
    type(sidestream_restart), intent(out) :: restart
    integer, intent(out), optional :: ierr
    call open_restart(comm, directory, restart, cycle, ierr)
  end subroutine open_cycle64

  subroutine open_cycle32(comm, directory, cycle, restart, ierr)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: directory
    integer(int32), intent(in) :: cycle
    type(sidestream_restart), intent(out) :: restart
    integer, intent(out), optional :: ierr
    call open_restart(comm, directory, restart, int(cycle, int64), ierr)
  end subroutine open_cycle32

  subroutine open_restart(comm, directory, restart, cycle, ierr)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: directory
    type(sidestream_restart), intent(out) :: restart
    integer(int64), intent(in), optional :: cycle
    integer, intent(out), optional :: ierr
    integer(c_int) :: code, rank
    integer(c_int64_t) :: of
    of = 0
    if (present(cycle)) of = cycle
    code = c_restart_open(int(comm, c_int), trim(directory) // c_null_char, merge(1_c_int, 0_c_int, present(cycle)), of, &
                          restart%handle, rank)
    restart%speaks = rank == 0
    call settle_restart(restart, code, ierr, of_all=.true.)
  end subroutine open_restart

  !> Closes the checkpoint. Not collective. Prints a kept error on standard error if there is no `ierr` to return it.
  subroutine sidestream_restart_close(restart, ierr)
    type(sidestream_restart), intent(inout) :: restart
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = c_restart_close(restart%handle)
    restart%handle = c_null_ptr
    call settle_restart(restart, code, ierr)
    if (restart%kept /= SIDESTREAM_OK) then
      if (restart%speaks .or. .not. restart%of_all) write (error_unit, '(2a)') 'sidestream: ', restart%kept_text
      restart%kept = SIDESTREAM_OK
    end if
  end subroutine sidestream_restart_close

  !> The sentence for the last code that was not SIDESTREAM_OK, or for the kept error that `ierr` returned.
  function sidestream_restart_message(restart) result(message)
    type(sidestream_restart), intent(in) :: restart
    character(len=:), allocatable :: message
    message = ''
    if (allocated(restart%message)) message = restart%message
  end function sidestream_restart_message

  !> Remarks on checkpoints that were passed over, one line each; may be empty.
  function sidestream_restart_remarks(restart) result(remarks)
    type(sidestream_restart), intent(in) :: restart
    character(len=:), allocatable :: remarks
    remarks = text_of(c_restart_remarks(restart%handle))
  end function sidestream_restart_remarks

  ! ---- content -------------------------------------------------------------------------------------------------

  subroutine iteration64(restart, cycle, time, index, ierr)
    type(sidestream_restart), intent(inout) :: restart
    integer(int64), intent(out) :: cycle
    real(real64), intent(out), optional :: time
    integer(int64), intent(out), optional :: index
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: number
    real(c_double) :: at
    number = -1
    cycle = -1
    at = 0
    call settle_restart(restart, c_restart_iteration(restart%handle, number, cycle, at), ierr)
    if (present(time)) time = at
    if (present(index)) index = number
  end subroutine iteration64

  subroutine iteration32(restart, cycle, time, index, ierr)
    type(sidestream_restart), intent(inout) :: restart
    integer(int32), intent(out) :: cycle
    real(real64), intent(out), optional :: time
    integer(int32), intent(out), optional :: index
    integer, intent(out), optional :: ierr
    integer(int64) :: found, number
    call iteration64(restart, found, time, number, ierr)
    if (found > huge(cycle) .or. number > huge(cycle)) then
      call misuse_restart(restart, 'restart_iteration: the cycle or the index is beyond 2147483647; give integer(int64)', ierr)
      found = -1
      number = -1
    end if
    cycle = int(found, int32)
    if (present(index)) index = int(number, int32)
  end subroutine iteration32

  !> Hides levels finer than `deepest` (counted from 0) from now on. Blocks on them no longer belong to the mesh, and
  !> blocks of octrees have only the cells of the levels down to it. Less than 0: all levels are there again.
  subroutine sidestream_restart_limit_levels(restart, deepest, ierr)
    type(sidestream_restart), intent(inout) :: restart
    integer, intent(in) :: deepest
    integer, intent(out), optional :: ierr
    call settle_restart(restart, c_restart_limit_levels(restart%handle, int(deepest, c_int32_t)), ierr)
  end subroutine sidestream_restart_limit_levels

  !> Name of mesh number `n`, counted from 1; empty beyond the last one.
  function sidestream_restart_mesh_name(restart, n) result(name)
    type(sidestream_restart), intent(in) :: restart
    integer, intent(in) :: n
    character(len=:), allocatable :: name
    name = text_or_none(c_restart_mesh_name(restart%handle, int(n - 1, c_int32_t)))
  end function sidestream_restart_mesh_name

  !> Name of variable number `n`, counted from 1; empty beyond the last one.
  function sidestream_restart_variable_name(restart, n) result(name)
    type(sidestream_restart), intent(in) :: restart
    integer, intent(in) :: n
    character(len=:), allocatable :: name
    name = text_or_none(c_restart_variable_name(restart%handle, int(n - 1, c_int32_t)))
  end function sidestream_restart_variable_name

  subroutine sidestream_restart_variable(restart, variable, description, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: variable
    type(sidestream_stored_variable), intent(out) :: description
    integer, intent(out), optional :: ierr
    type(c_stored_variable) :: found
    integer(c_int) :: code
    found%struct_size = c_sizeof(found)
    code = c_restart_variable(restart%handle, trim(variable) // c_null_char, found)
    call settle_restart(restart, code, ierr)
    call take_variable(found, description)
  end subroutine sidestream_restart_variable

  subroutine block_count64(restart, mesh, count, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: mesh
    integer(int64), intent(out) :: count
    integer, intent(out), optional :: ierr
    count = 0
    call settle_restart(restart, c_restart_block_count(restart%handle, trim(mesh) // c_null_char, count), ierr)
  end subroutine block_count64

  subroutine block_count32(restart, mesh, count, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: mesh
    integer(int32), intent(out) :: count
    integer, intent(out), optional :: ierr
    integer(int64) :: found
    call block_count64(restart, mesh, found, ierr)
    if (found > huge(count)) then
      call misuse_restart(restart, 'restart_block_count: there are more than 2147483647; give integer(int64)', ierr)
      found = 0
    end if
    count = int(found, int32)
  end subroutine block_count32

  !> Block number `n` of the mesh, counted from 1, by level and id.
  subroutine block64(restart, mesh, n, block, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: mesh
    integer(int64), intent(in) :: n
    type(sidestream_stored_block), intent(out) :: block
    integer, intent(out), optional :: ierr
    type(c_stored_block) :: found
    integer(c_int) :: code
    found%struct_size = c_sizeof(found)
    code = c_restart_block(restart%handle, trim(mesh) // c_null_char, n - 1, found)
    call settle_restart(restart, code, ierr)
    if (code == SIDESTREAM_OK) call take_block(found, block)
  end subroutine block64

  subroutine block32(restart, mesh, n, block, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: mesh
    integer(int32), intent(in) :: n
    type(sidestream_stored_block), intent(out) :: block
    integer, intent(out), optional :: ierr
    call block64(restart, mesh, int(n, int64), block, ierr)
  end subroutine block32

  ! ---- for the other modules -----------------------------------------------------------------------------------

  pure function restart_handle(restart) result(handle)
    type(sidestream_restart), intent(in) :: restart
    type(c_ptr) :: handle
    handle = restart%handle
  end function restart_handle

  !> Converts the description of a variable; all texts are there, even if there is none.
  subroutine take_variable(found, description)
    type(c_stored_variable), intent(in) :: found
    type(sidestream_stored_variable), intent(out) :: description
    description%mesh = text_or_none(found%mesh)
    description%unit = text_or_none(found%unit)
    description%label = text_or_none(found%label)
    description%group = text_or_none(found%group)
    description%codec = text_or_none(found%codec)
    if (.not. c_associated(found%mesh)) return
    description%type = int(found%type)
    description%components = int(found%components)
    description%centering = int(found%centering)
    description%row_order = found%row_order /= 0
    description%is_list = found%is_list /= 0
    description%lo = found%lo
    description%hi = found%hi
    description%length = found%length
    description%role = int(found%role)
  end subroutine take_variable

  subroutine take_block(found, block)
    type(c_stored_block), intent(in) :: found
    type(sidestream_stored_block), intent(out) :: block
    block = sidestream_stored_block(found%id, int(found%level), int(found%client), found%lo, found%hi, found%points, &
                                    found%corners, found%faces, found%has_bounds /= 0, found%low, found%high, found%ratio)
  end subroutine take_block

  !> The block with this id.
  subroutine find_restart_block(restart, mesh, id, found, code)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: mesh
    integer(int64), intent(in) :: id
    type(sidestream_stored_block), intent(out) :: found
    integer, intent(out) :: code
    character(len=24) :: number
    integer(int64) :: n, count
    call block_count64(restart, mesh, count, code)
    do n = 1, count
      call block64(restart, mesh, n, found, code)
      if (code /= SIDESTREAM_OK) return
      if (found%id == id) exit
    end do
    if (code /= SIDESTREAM_OK .or. found%id == id) return
    write (number, '(i0)') id
    call misuse_restart(restart, "the mesh '" // mesh // "' has no block " // trim(number) &
                        // ' in the checkpoint; see which there are', code)
  end subroutine find_restart_block

  !> The number by which C's restart_read_block knows a block.
  pure function restart_block_key(id) result(key)
    integer(int64), intent(in) :: id
    integer(int64) :: key
    key = id
  end function restart_block_key

  function text_or_none(from) result(text)
    type(c_ptr), intent(in) :: from
    character(len=:), allocatable :: text
    text = ''
    if (c_associated(from)) text = text_of(from)
  end function text_or_none

  !> Ends a call like settle of a session: with `ierr` the code goes there, or that of the first error kept before;
  !> without it an error is kept.
  subroutine settle_restart(restart, code, ierr, said, of_all)
    type(sidestream_restart), intent(inout) :: restart
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    character(len=*), intent(in), optional :: said
    logical, intent(in), optional :: of_all
    if (code /= SIDESTREAM_OK) then
      if (present(said)) then
        restart%message = said
      else
        restart%message = text_of(c_restart_message(restart%handle))
      end if
    end if
    if (.not. present(ierr)) then
      if (code == SIDESTREAM_OK .or. restart%kept /= SIDESTREAM_OK) return
      restart%kept = int(code)
      restart%kept_text = restart%message
      if (present(of_all)) restart%of_all = of_all
      return
    end if
    ierr = int(code)
    if (restart%kept == SIDESTREAM_OK) return
    ierr = restart%kept
    restart%message = restart%kept_text
    restart%kept = SIDESTREAM_OK
  end subroutine settle_restart

  !> Reports an error that is found here.
  subroutine misuse_restart(restart, said, ierr)
    type(sidestream_restart), intent(inout) :: restart
    character(len=*), intent(in) :: said
    integer, intent(out), optional :: ierr
    call settle_restart(restart, int(SIDESTREAM_ERROR_USAGE, c_int), ierr, said)
  end subroutine misuse_restart
end module sidestream_restarts
