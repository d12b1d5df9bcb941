!> Contexts of a database: the functions of sidestream/reader.h, except those for arrays of values, which are in
!> stored_arrays.f90.in, and those for cells, in sidestream_cell_lists.f90.
module sidestream_contexts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real64
  use sidestream_base, only: SIDESTREAM_OK, SIDESTREAM_ERROR_USAGE, text_of
  use sidestream_context_c
  use sidestream_readers
  use sidestream_restarts, only: sidestream_stored_variable, sidestream_stored_block, take_variable, take_block, &
                                 text_or_none
  implicit none
  private

  integer, parameter, public :: &
    SIDESTREAM_MESH_UNKNOWN = -2, SIDESTREAM_MESH_UNIFORM = 0, SIDESTREAM_MESH_RECTILINEAR = 1, &
    SIDESTREAM_MESH_CURVILINEAR = 2, SIDESTREAM_MESH_UNSTRUCTURED = 3, SIDESTREAM_MESH_POINTS = 4, &
    SIDESTREAM_MESH_OCTREE = 5

  !> One iteration of a database. Must not be copied.
  type, public :: sidestream_context
    private
    type(c_ptr) :: handle = c_null_ptr
    type(stored_errors) :: errors
  end type sidestream_context

  !> The nodes of an axis of a rectilinear mesh.
  type, public :: sidestream_axis
    real(real64), allocatable :: nodes(:)
  end type sidestream_axis

  !> A mesh; see sidestream_stored_mesh in reader.h. Boxes are half-open, from 0. Empty names: no variable has the role.
  type, public :: sidestream_stored_mesh
    integer :: kind = SIDESTREAM_MESH_UNKNOWN, dimensions = 0
    logical :: is_list = .false.
    integer(int64) :: lo(3) = 0, hi(3) = 0
    real(real64) :: origin(3) = 0, spacing(3) = 0
    type(sidestream_axis) :: axes(3)
    logical :: periodic(3) = .false.
    integer(int64), allocatable :: ratios(:, :) !< (3, number of steps)
    integer :: levels = 0
    character(len=64) :: arrays(12) = '' !< by role, from SIDESTREAM_COORDINATES on
    real(real64), allocatable :: level_times(:)
  end type sidestream_stored_mesh

  !> The structure of a block of an octree. Level n, from 0 on, has the cells starts(n + 1) + 1 to starts(n + 2).
  type, public :: sidestream_stored_tree
    integer(int64), allocatable :: starts(:)
    integer(int8), allocatable :: refined(:), owned(:)
  end type sidestream_stored_tree

  interface sidestream_context_block_count
    module procedure block_count32, block_count64
  end interface sidestream_context_block_count
  interface sidestream_context_block
    module procedure block32, block64
  end interface sidestream_context_block
  interface sidestream_context_block_length
    module procedure block_length32, block_length64
  end interface sidestream_context_block_length
  interface sidestream_context_tree
    module procedure tree32, tree64
  end interface sidestream_context_tree
  public :: sidestream_context_open, sidestream_context_close, sidestream_context_message, sidestream_context_iteration
  public :: sidestream_context_provenance, sidestream_context_bytes_read, sidestream_context_mesh_name
  public :: sidestream_context_variable_name, sidestream_context_mesh, sidestream_context_variable
  public :: sidestream_context_block_count, sidestream_context_block, sidestream_context_block_length
  public :: sidestream_context_limit_levels, sidestream_context_list_length, sidestream_context_tree
  public :: sidestream_stored_variable, sidestream_stored_block
  ! For the other modules of the library.
  public :: context_handle, settle_context, misuse_context, find_context_block, context_block_key

contains

  ! ---- opening and closing -------------------------------------------------------------------------------------

  !> Opens context number `n`, counted from 1. Collective over the reader's communicator, with the same number on all
  !> ranks. An error is the reader's, and also this context's.
  subroutine sidestream_context_open(reader, n, context, ierr)
    type(sidestream_reader), intent(inout) :: reader
    integer, intent(in) :: n
    type(sidestream_context), intent(out) :: context
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = c_context_open(reader_handle(reader), int(n, c_int64_t) - 1, context%handle)
    context%errors%speaks = reader_speaks(reader)
    if (code /= SIDESTREAM_OK) context%errors%message = text_of(c_reader_message(reader_handle(reader)))
    call settle_reader(reader, code, ierr, of_all=.true.)
  end subroutine sidestream_context_open

  !> Closes the context. Not collective. Prints a kept error on standard error if there is no `ierr` to return it.
  subroutine sidestream_context_close(context, ierr)
    type(sidestream_context), intent(inout) :: context
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = c_context_close(context%handle)
    context%handle = c_null_ptr
    call settle_context(context, code, ierr)
    call tell_kept(context%errors)
  end subroutine sidestream_context_close

  !> The sentence for the last code that was not SIDESTREAM_OK, or for the kept error that `ierr` returned.
  function sidestream_context_message(context) result(message)
    type(sidestream_context), intent(in) :: context
    character(len=:), allocatable :: message
    message = ''
    if (allocated(context%errors%message)) message = context%errors%message
  end function sidestream_context_message

  ! ---- content -------------------------------------------------------------------------------------------------

  subroutine sidestream_context_iteration(context, cycle, time, index, ierr)
    type(sidestream_context), intent(inout) :: context
    integer(int64), intent(out), optional :: cycle
    real(real64), intent(out), optional :: time
    integer(int64), intent(out), optional :: index
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: number, step
    real(c_double) :: at
    number = -1
    step = -1
    at = 0
    call settle_context(context, c_context_iteration(context%handle, number, step, at), ierr)
    if (present(cycle)) cycle = step
    if (present(time)) time = at
    if (present(index)) index = number
  end subroutine sidestream_context_iteration

  !> The version and the configuration that wrote it, as text.
  function sidestream_context_provenance(context) result(text)
    type(sidestream_context), intent(in) :: context
    character(len=:), allocatable :: text
    text = text_of(c_context_provenance(context%handle))
  end function sidestream_context_provenance

  !> Bytes of tables and values that this rank has read of the context so far; 0 if it is not open.
  function sidestream_context_bytes_read(context) result(bytes)
    type(sidestream_context), intent(in) :: context
    integer(int64) :: bytes
    bytes = 0
    if (c_context_bytes_read(context%handle, bytes) /= SIDESTREAM_OK) bytes = 0
  end function sidestream_context_bytes_read

  !> Name of mesh number `n`, counted from 1; empty beyond the last one.
  function sidestream_context_mesh_name(context, n) result(name)
    type(sidestream_context), intent(in) :: context
    integer, intent(in) :: n
    character(len=:), allocatable :: name
    name = text_or_none(c_context_mesh_name(context%handle, int(n - 1, c_int32_t)))
  end function sidestream_context_mesh_name

  !> Name of variable number `n`, counted from 1; empty beyond the last one.
  function sidestream_context_variable_name(context, n) result(name)
    type(sidestream_context), intent(in) :: context
    integer, intent(in) :: n
    character(len=:), allocatable :: name
    name = text_or_none(c_context_variable_name(context%handle, int(n - 1, c_int32_t)))
  end function sidestream_context_variable_name

  subroutine sidestream_context_mesh(context, mesh, description, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    type(sidestream_stored_mesh), intent(out) :: description
    integer, intent(out), optional :: ierr
    type(c_stored_mesh) :: found
    integer(c_int) :: code
    found%struct_size = c_sizeof(found)
    code = c_context_mesh(context%handle, trim(mesh) // c_null_char, found)
    call settle_context(context, code, ierr)
    call take_mesh(found, description)
  end subroutine sidestream_context_mesh

  subroutine take_mesh(found, description)
    type(c_stored_mesh), intent(in) :: found
    type(sidestream_stored_mesh), intent(out) :: description
    integer :: n
    description%kind = merge(int(found%kind), SIDESTREAM_MESH_UNKNOWN, c_associated(found%name))
    description%dimensions = int(found%dimensions)
    description%is_list = found%is_list /= 0
    description%lo = found%lo
    description%hi = found%hi
    description%origin = found%origin
    description%spacing = found%spacing
    description%periodic = found%periodic /= 0
    description%levels = int(found%levels)
    do n = 1, 3
      description%axes(n)%nodes = reals(found%nodes(n), found%hi(n) - found%lo(n) + 1)
    end do
    description%ratios = reshape(integers(found%ratios, 3_int64 * found%steps), [3, int(found%steps)])
    do n = 1, size(description%arrays)
      description%arrays(n) = text_or_none(found%arrays(n))
    end do
    description%level_times = reals(found%times, int(found%level_times, int64))
  end subroutine take_mesh

  !> A copy of numbers of C; none if there are not any.
  function reals(from, count) result(numbers)
    type(c_ptr), intent(in) :: from
    integer(int64), intent(in) :: count
    real(real64), allocatable :: numbers(:)
    real(real64), pointer :: all(:)
    allocate (numbers(0))
    if (.not. c_associated(from) .or. count <= 0) return
    call c_f_pointer(from, all, [count])
    numbers = all
  end function reals

  function integers(from, count) result(numbers)
    type(c_ptr), intent(in) :: from
    integer(int64), intent(in) :: count
    integer(int64), allocatable :: numbers(:)
    integer(int64), pointer :: all(:)
    allocate (numbers(0))
    if (.not. c_associated(from) .or. count <= 0) return
    call c_f_pointer(from, all, [count])
    numbers = all
  end function integers

  function flags(from, count) result(numbers)
    type(c_ptr), intent(in) :: from
    integer(int64), intent(in) :: count
    integer(int8), allocatable :: numbers(:)
    integer(int8), pointer :: all(:)
    allocate (numbers(0))
    if (.not. c_associated(from) .or. count <= 0) return
    call c_f_pointer(from, all, [count])
    numbers = all
  end function flags

  !> Describes a variable. Its `length` is 0: see sidestream_context_list_length.
  subroutine sidestream_context_variable(context, variable, description, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: variable
    type(sidestream_stored_variable), intent(out) :: description
    integer, intent(out), optional :: ierr
    type(c_stored_variable) :: found
    integer(c_int) :: code
    found%struct_size = c_sizeof(found)
    code = c_context_variable(context%handle, trim(variable) // c_null_char, found)
    call settle_context(context, code, ierr)
    call take_variable(found, description)
  end subroutine sidestream_context_variable

  !> Hides levels finer than `deepest` (counted from 0) from now on. Less than 0: all levels are there again.
  subroutine sidestream_context_limit_levels(context, deepest, ierr)
    type(sidestream_context), intent(inout) :: context
    integer, intent(in) :: deepest
    integer, intent(out), optional :: ierr
    call settle_context(context, c_context_limit_levels(context%handle, int(deepest, c_int32_t)), ierr)
  end subroutine sidestream_context_limit_levels

  !> The number of values of a list over all blocks.
  subroutine sidestream_context_list_length(context, variable, length, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: variable
    integer(int64), intent(out) :: length
    integer, intent(out), optional :: ierr
    length = 0
    call settle_context(context, c_context_list_length(context%handle, trim(variable) // c_null_char, length), ierr)
  end subroutine sidestream_context_list_length

  ! ---- blocks --------------------------------------------------------------------------------------------------

  subroutine block_count64(context, mesh, count, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer(int64), intent(out) :: count
    integer, intent(out), optional :: ierr
    count = 0
    call settle_context(context, c_context_block_count(context%handle, trim(mesh) // c_null_char, count), ierr)
  end subroutine block_count64

  subroutine block_count32(context, mesh, count, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer(int32), intent(out) :: count
    integer, intent(out), optional :: ierr
    integer(int64) :: found
    call block_count64(context, mesh, found, ierr)
    if (found > huge(count)) then
      call misuse_context(context, 'context_block_count: there are more than 2147483647; give integer(int64)', ierr)
      found = 0
    end if
    count = int(found, int32)
  end subroutine block_count32

  !> Block number `n` of the mesh, counted from 1, by level and id.
  subroutine block64(context, mesh, n, block, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer(int64), intent(in) :: n
    type(sidestream_stored_block), intent(out) :: block
    integer, intent(out), optional :: ierr
    type(c_stored_block) :: found
    integer(c_int) :: code
    found%struct_size = c_sizeof(found)
    code = c_context_block(context%handle, trim(mesh) // c_null_char, n - 1, found)
    call settle_context(context, code, ierr)
    if (code == SIDESTREAM_OK) call take_block(found, block)
  end subroutine block64

  subroutine block32(context, mesh, n, block, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer(int32), intent(in) :: n
    type(sidestream_stored_block), intent(out) :: block
    integer, intent(out), optional :: ierr
    call block64(context, mesh, int(n, int64), block, ierr)
  end subroutine block32

  !> The number of elements of a variable on block number `n`, counted from 1; -1 if they were not stored there.
  subroutine block_length64(context, variable, n, length, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: variable
    integer(int64), intent(in) :: n
    integer(int64), intent(out) :: length
    integer, intent(out), optional :: ierr
    length = -1
    call settle_context(context, c_context_block_length(context%handle, trim(variable) // c_null_char, n - 1, length), ierr)
  end subroutine block_length64

  subroutine block_length32(context, variable, n, length, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: variable
    integer(int32), intent(in) :: n
    integer(int64), intent(out) :: length
    integer, intent(out), optional :: ierr
    call block_length64(context, variable, int(n, int64), length, ierr)
  end subroutine block_length32

  !> The structure of a block of an octree, block number `n`, counted from 1.
  subroutine tree64(context, mesh, n, tree, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer(int64), intent(in) :: n
    type(sidestream_stored_tree), intent(out) :: tree
    integer, intent(out), optional :: ierr
    type(c_stored_tree) :: found
    integer(int64) :: cells
    found%struct_size = c_sizeof(found)
    call settle_context(context, c_context_tree(context%handle, trim(mesh) // c_null_char, n - 1, found), ierr)
    tree%starts = integers(found%starts, int(found%levels, int64) + 1)
    cells = 0
    if (size(tree%starts) > 0) cells = tree%starts(size(tree%starts))
    tree%refined = flags(found%refined, cells)
    tree%owned = flags(found%owned, cells)
  end subroutine tree64

  subroutine tree32(context, mesh, n, tree, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer(int32), intent(in) :: n
    type(sidestream_stored_tree), intent(out) :: tree
    integer, intent(out), optional :: ierr
    call tree64(context, mesh, int(n, int64), tree, ierr)
  end subroutine tree32

  ! ---- for the other modules -----------------------------------------------------------------------------------

  pure function context_handle(context) result(handle)
    type(sidestream_context), intent(in) :: context
    type(c_ptr) :: handle
    handle = context%handle
  end function context_handle

  subroutine settle_context(context, code, ierr, said)
    type(sidestream_context), intent(inout) :: context
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    character(len=*), intent(in), optional :: said
    character(len=:), allocatable :: text
    text = ''
    if (present(said)) then
      text = said
    else if (code /= SIDESTREAM_OK) then
      text = text_of(c_context_message(context%handle))
    end if
    call settle_stored(context%errors, code, text, ierr)
  end subroutine settle_context

  !> Reports an error that is found here.
  subroutine misuse_context(context, said, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: said
    integer, intent(out), optional :: ierr
    call settle_context(context, int(SIDESTREAM_ERROR_USAGE, c_int), ierr, said)
  end subroutine misuse_context

  !> Block number `n`, counted from 1.
  subroutine find_context_block(context, mesh, n, found, code)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer(int64), intent(in) :: n
    type(sidestream_stored_block), intent(out) :: found
    integer, intent(out) :: code
    call block64(context, mesh, n, found, code)
  end subroutine find_context_block

  !> The number by which C's context_read_block knows a block.
  pure function context_block_key(n) result(key)
    integer(int64), intent(in) :: n
    integer(int64) :: key
    key = n - 1
  end function context_block_key
end module sidestream_contexts
