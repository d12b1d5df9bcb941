!> Interfaces of the functions of restart.h. Internal to the module `sidestream`, which programs use.
module sidestream_restart_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  !> sidestream_stored_variable
  type, bind(C) :: c_stored_variable
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: mesh = c_null_ptr
    integer(c_int) :: type = 0
    integer(c_int32_t) :: components = 0, centering = 0, row_order = 0, is_list = 0
    integer(c_int64_t) :: lo(3) = 0, hi(3) = 0, length = 0
    integer(c_int32_t) :: role = 0
    type(c_ptr) :: unit = c_null_ptr, label = c_null_ptr, group = c_null_ptr, codec = c_null_ptr
  end type c_stored_variable

  !> sidestream_stored_block
  type, bind(C) :: c_stored_block
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: id = 0
    integer(c_int32_t) :: level = 0, client = 0
    integer(c_int64_t) :: lo(3) = 0, hi(3) = 0, points = 0, corners = 0, faces = 0
    integer(c_int32_t) :: has_bounds = 0
    real(c_double) :: low(3) = 0, high(3) = 0
    integer(c_int64_t) :: ratio(3) = 1
  end type c_stored_block

  interface
    ! shims.c: communicators
    function c_restart_open(comm, directory, has_cycle, cycle, restart, rank) &
        bind(C, name='sidestream_fortran_restart_open') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      integer(c_int), value :: comm, has_cycle
      character(kind=c_char), intent(in) :: directory(*)
      integer(c_int64_t), value :: cycle
      type(c_ptr), intent(out) :: restart
      integer(c_int), intent(out) :: rank
      integer(c_int) :: code
    end function c_restart_open

    function c_restart_close(restart) bind(C, name='sidestream_restart_close') result(code)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: restart
      integer(c_int) :: code
    end function c_restart_close

    function c_restart_message(restart) bind(C, name='sidestream_restart_message') result(text)
      import :: c_ptr
      type(c_ptr), value :: restart
      type(c_ptr) :: text
    end function c_restart_message

    function c_restart_remarks(restart) bind(C, name='sidestream_restart_remarks') result(text)
      import :: c_ptr
      type(c_ptr), value :: restart
      type(c_ptr) :: text
    end function c_restart_remarks

    function c_restart_limit_levels(restart, deepest) bind(C, name='sidestream_restart_limit_levels') result(code)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: restart
      integer(c_int32_t), value :: deepest
      integer(c_int) :: code
    end function c_restart_limit_levels

    function c_restart_iteration(restart, index, cycle, time) bind(C, name='sidestream_restart_iteration') result(code)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: restart
      integer(c_int64_t), intent(inout) :: index, cycle
      real(c_double), intent(inout) :: time
      integer(c_int) :: code
    end function c_restart_iteration

    function c_restart_mesh_name(restart, number) bind(C, name='sidestream_restart_mesh_name') result(text)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: restart
      integer(c_int32_t), value :: number
      type(c_ptr) :: text
    end function c_restart_mesh_name

    function c_restart_variable_name(restart, number) bind(C, name='sidestream_restart_variable_name') result(text)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: restart
      integer(c_int32_t), value :: number
      type(c_ptr) :: text
    end function c_restart_variable_name

    function c_restart_variable(restart, variable, description) bind(C, name='sidestream_restart_variable') result(code)
      import :: c_char, c_int, c_ptr, c_stored_variable
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: variable(*)
      type(c_stored_variable), intent(inout) :: description
      integer(c_int) :: code
    end function c_restart_variable

    function c_restart_block_count(restart, mesh, count) bind(C, name='sidestream_restart_block_count') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: code
    end function c_restart_block_count

    function c_restart_block(restart, mesh, number, block) bind(C, name='sidestream_restart_block') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr, c_stored_block
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: number
      type(c_stored_block), intent(inout) :: block
      integer(c_int) :: code
    end function c_restart_block

    function c_restart_read_box(restart, variable, level, lo, hi, array_lo, array_hi, data) &
        bind(C, name='sidestream_restart_read_box') result(code)
      import :: c_char, c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: restart, array_lo, array_hi, data
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int32_t), value :: level
      integer(c_int64_t), intent(in) :: lo(3), hi(3)
      integer(c_int) :: code
    end function c_restart_read_box

    function c_restart_read_list(restart, variable, first, count, data) &
        bind(C, name='sidestream_restart_read_list') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: restart, data
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: first, count
      integer(c_int) :: code
    end function c_restart_read_list

    function c_restart_read_block(restart, variable, block, data, bytes) &
        bind(C, name='sidestream_restart_read_block') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: restart, data
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block, bytes
      integer(c_int) :: code
    end function c_restart_read_block
  end interface
end module sidestream_restart_c
