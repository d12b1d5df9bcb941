!> Interfaces of the functions of reader.h. Internal to the module `sidestream`, which programs use.
module sidestream_context_c
  use, intrinsic :: iso_c_binding
  use sidestream_restart_c, only: c_stored_block, c_stored_variable
  implicit none
  private
  public :: c_stored_block, c_stored_variable

  !> sidestream_stored_context
  type, bind(C), public :: c_stored_context
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: slot = 0, index = 0, cycle = 0
    real(c_double) :: time = 0
    integer(c_int32_t) :: run = 0, is_checkpoint = 0
    integer(c_int64_t) :: blocks = 0, bytes = 0, stored_bytes = 0
  end type c_stored_context

  !> sidestream_stored_mesh
  type, bind(C), public :: c_stored_mesh
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: name = c_null_ptr
    integer(c_int32_t) :: kind = 0, dimensions = 0, is_list = 0
    integer(c_int64_t) :: lo(3) = 0, hi(3) = 0
    real(c_double) :: origin(3) = 0, spacing(3) = 0
    type(c_ptr) :: nodes(3) = c_null_ptr
    integer(c_int32_t) :: periodic(3) = 0, steps = 0
    type(c_ptr) :: ratios = c_null_ptr
    integer(c_int32_t) :: levels = 0
    type(c_ptr) :: arrays(0:12) = c_null_ptr
    integer(c_int32_t) :: level_times = 0
    type(c_ptr) :: times = c_null_ptr
  end type c_stored_mesh

  !> sidestream_stored_tree
  type, bind(C), public :: c_stored_tree
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: levels = 0
    type(c_ptr) :: starts = c_null_ptr, refined = c_null_ptr, owned = c_null_ptr
  end type c_stored_tree

  !> sidestream_cell_choice
  type, bind(C), public :: c_cell_choice
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: level = 0, has_box = 0
    integer(c_int64_t) :: lo(3) = 0, hi(3) = 1
    integer(c_int32_t) :: coarsest = 0, deepest = -1, all = 0
  end type c_cell_choice

  !> sidestream_cell_list
  type, bind(C), public :: c_cell_list
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: count = 0
    type(c_ptr) :: level = c_null_ptr, index = c_null_ptr, refined = c_null_ptr, owner = c_null_ptr
  end type c_cell_list

  public :: c_reader_open, c_reader_close, c_reader_message, c_reader_remarks, c_reader_context_count
  public :: c_reader_context, c_reader_find_cycle, c_context_open, c_context_close, c_context_message
  public :: c_context_iteration, c_context_provenance, c_context_bytes_read, c_context_mesh_name
  public :: c_context_variable_name, c_context_mesh, c_context_variable, c_context_block_count, c_context_block
  public :: c_context_limit_levels, c_context_block_length, c_context_read_block, c_context_read_box
  public :: c_context_list_length, c_context_read_list, c_context_tree, c_context_list_cells, c_cells_free
  public :: c_cells_list, c_cells_read

  interface
    function c_reader_open(has_comm, comm, directory, reader, rank) &
        bind(C, name='sidestream_fortran_reader_open') result(code)
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: has_comm
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: directory(*)
      type(c_ptr), intent(inout) :: reader
      integer(c_int), intent(out) :: rank
      integer(c_int) :: code
    end function c_reader_open

    function c_reader_close(reader) &
        bind(C, name='sidestream_reader_close') result(code)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: reader
      integer(c_int) :: code
    end function c_reader_close

    function c_reader_message(reader) &
        bind(C, name='sidestream_reader_message') result(text)
      import :: c_ptr
      type(c_ptr), value :: reader
      type(c_ptr) :: text
    end function c_reader_message

    function c_reader_remarks(reader) &
        bind(C, name='sidestream_reader_remarks') result(text)
      import :: c_ptr
      type(c_ptr), value :: reader
      type(c_ptr) :: text
    end function c_reader_remarks

    function c_reader_context_count(reader, count) &
        bind(C, name='sidestream_reader_context_count') result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: reader
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function c_reader_context_count

    function c_reader_context(reader, number, listed) &
        bind(C, name='sidestream_reader_context') result(code)
      import :: c_int, c_int64_t, c_ptr, c_stored_context
      type(c_ptr), value :: reader
      integer(c_int64_t), value :: number
      type(c_stored_context), intent(inout) :: listed
      integer(c_int) :: code
    end function c_reader_context

    function c_reader_find_cycle(reader, cycle, number) &
        bind(C, name='sidestream_reader_find_cycle') result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: reader
      integer(c_int64_t), value :: cycle
      integer(c_int64_t), intent(inout) :: number
      integer(c_int) :: code
    end function c_reader_find_cycle

    function c_context_open(reader, number, context) &
        bind(C, name='sidestream_context_open') result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: reader
      integer(c_int64_t), value :: number
      type(c_ptr), intent(inout) :: context
      integer(c_int) :: code
    end function c_context_open

    function c_context_close(context) &
        bind(C, name='sidestream_context_close') result(code)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: context
      integer(c_int) :: code
    end function c_context_close

    function c_context_message(context) &
        bind(C, name='sidestream_context_message') result(text)
      import :: c_ptr
      type(c_ptr), value :: context
      type(c_ptr) :: text
    end function c_context_message

    function c_context_iteration(context, index, cycle, time) &
        bind(C, name='sidestream_context_iteration') result(code)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int64_t), intent(inout) :: index
      integer(c_int64_t), intent(inout) :: cycle
      real(c_double), intent(inout) :: time
      integer(c_int) :: code
    end function c_context_iteration

    function c_context_provenance(context) &
        bind(C, name='sidestream_context_provenance') result(text)
      import :: c_ptr
      type(c_ptr), value :: context
      type(c_ptr) :: text
    end function c_context_provenance

    function c_context_bytes_read(context, bytes) &
        bind(C, name='sidestream_context_bytes_read') result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int64_t), intent(inout) :: bytes
      integer(c_int) :: code
    end function c_context_bytes_read

    function c_context_mesh_name(context, number) &
        bind(C, name='sidestream_context_mesh_name') result(text)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: number
      type(c_ptr) :: text
    end function c_context_mesh_name

    function c_context_variable_name(context, number) &
        bind(C, name='sidestream_context_variable_name') result(text)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: number
      type(c_ptr) :: text
    end function c_context_variable_name

    function c_context_mesh(context, mesh, description) &
        bind(C, name='sidestream_context_mesh') result(code)
      import :: c_char, c_int, c_ptr, c_stored_mesh
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: mesh(*)
      type(c_stored_mesh), intent(inout) :: description
      integer(c_int) :: code
    end function c_context_mesh

    function c_context_variable(context, variable, description) &
        bind(C, name='sidestream_context_variable') result(code)
      import :: c_char, c_int, c_ptr, c_stored_variable
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: variable(*)
      type(c_stored_variable), intent(inout) :: description
      integer(c_int) :: code
    end function c_context_variable

    function c_context_block_count(context, mesh, count) &
        bind(C, name='sidestream_context_block_count') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function c_context_block_count

    function c_context_block(context, mesh, number, block) &
        bind(C, name='sidestream_context_block') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr, c_stored_block
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: number
      type(c_stored_block), intent(inout) :: block
      integer(c_int) :: code
    end function c_context_block

    function c_context_limit_levels(context, deepest) &
        bind(C, name='sidestream_context_limit_levels') result(code)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: deepest
      integer(c_int) :: code
    end function c_context_limit_levels

    function c_context_block_length(context, variable, number, length) &
        bind(C, name='sidestream_context_block_length') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: number
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function c_context_block_length

    function c_context_read_block(context, variable, number, data, bytes) &
        bind(C, name='sidestream_context_read_block') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: number
      type(c_ptr), value :: data
      integer(c_int64_t), value :: bytes
      integer(c_int) :: code
    end function c_context_read_block

    function c_context_read_box(context, variable, level, lo, hi, array_lo, array_hi, data) &
        bind(C, name='sidestream_context_read_box') result(code)
      import :: c_char, c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int32_t), value :: level
      integer(c_int64_t), intent(in) :: lo(3)
      integer(c_int64_t), intent(in) :: hi(3)
      type(c_ptr), value :: array_lo
      type(c_ptr), value :: array_hi
      type(c_ptr), value :: data
      integer(c_int) :: code
    end function c_context_read_box

    function c_context_list_length(context, variable, length) &
        bind(C, name='sidestream_context_list_length') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: code
    end function c_context_list_length

    function c_context_read_list(context, variable, first, count, data) &
        bind(C, name='sidestream_context_read_list') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: first
      integer(c_int64_t), value :: count
      type(c_ptr), value :: data
      integer(c_int) :: code
    end function c_context_read_list

    function c_context_tree(context, mesh, number, tree) &
        bind(C, name='sidestream_context_tree') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr, c_stored_tree
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: number
      type(c_stored_tree), intent(inout) :: tree
      integer(c_int) :: code
    end function c_context_tree

    function c_context_list_cells(context, mesh, choice, cells) &
        bind(C, name='sidestream_context_list_cells') result(code)
      import :: c_cell_choice, c_char, c_int, c_ptr
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: mesh(*)
      type(c_cell_choice), intent(inout) :: choice
      type(c_ptr), intent(inout) :: cells
      integer(c_int) :: code
    end function c_context_list_cells

    function c_cells_free(cells) &
        bind(C, name='sidestream_cells_free') result(code)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: cells
      integer(c_int) :: code
    end function c_cells_free

    function c_cells_list(cells, list) &
        bind(C, name='sidestream_cells_list') result(code)
      import :: c_cell_list, c_int, c_ptr
      type(c_ptr), value :: cells
      type(c_cell_list), intent(inout) :: list
      integer(c_int) :: code
    end function c_cells_list

    function c_cells_read(context, cells, variable, data, bytes, missing) &
        bind(C, name='sidestream_cells_read') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), value :: cells
      character(kind=c_char), intent(in) :: variable(*)
      type(c_ptr), value :: data
      integer(c_int64_t), value :: bytes
      integer(c_int64_t), intent(inout) :: missing
      integer(c_int) :: code
    end function c_cells_read
  end interface
end module sidestream_context_c
