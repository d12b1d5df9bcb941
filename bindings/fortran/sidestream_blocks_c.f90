!> Interfaces of the functions of sidestream.h that declare blocks. Internal to the module `sidestream`, which programs
!> use.
module sidestream_blocks_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    function c_set_block_on_level(session, mesh, block, level, lo, hi) &
        bind(C, name='sidestream_set_block_on_level') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: block
      integer(c_int), value :: level
      integer(c_int64_t), intent(in) :: lo(3), hi(3)
      integer(c_int) :: code
    end function c_set_block_on_level

    function c_set_rectilinear_block(session, mesh, block, lo, hi, nodes) &
        bind(C, name='sidestream_set_rectilinear_block') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: block
      integer(c_int64_t), intent(in) :: lo(3), hi(3)
      type(c_ptr), intent(in) :: nodes(3)
      integer(c_int) :: code
    end function c_set_rectilinear_block

    function c_replace_blocks(session, mesh, count, blocks, levels, lo, hi) bind(C, name='sidestream_replace_blocks') &
        result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: blocks(*), lo(*), hi(*)
      integer(c_int), intent(in) :: levels(*)
      integer(c_int) :: code
    end function c_replace_blocks

    function c_replace_block_lists(session, mesh, count, blocks, points, cells, corners, faces, bounds) &
        bind(C, name='sidestream_replace_block_lists') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, bounds
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: blocks(*), points(*), cells(*), corners(*), faces(*)
      integer(c_int) :: code
    end function c_replace_block_lists

    function c_set_block_list(session, mesh, block, points, cells, corners, faces, bounds) &
        bind(C, name='sidestream_set_block_list') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, bounds
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: block, points, cells, corners, faces
      integer(c_int) :: code
    end function c_set_block_list

    function c_set_block_bounds(session, mesh, block, bounds) bind(C, name='sidestream_set_block_bounds') result(code)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: block
      real(c_double), intent(in) :: bounds(6)
      integer(c_int) :: code
    end function c_set_block_bounds

    function c_remove_block(session, mesh, block) bind(C, name='sidestream_remove_block') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: block
      integer(c_int) :: code
    end function c_remove_block

    function c_set_allocated(session, variable, block, lo, hi) bind(C, name='sidestream_set_allocated') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int64_t), intent(in) :: lo(3), hi(3)
      integer(c_int) :: code
    end function c_set_allocated

    function c_set_spectral_block(session, mesh, block, order, elements, numbers, x, y, z) &
        bind(C, name='sidestream_set_spectral_block') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, numbers, x, y, z
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int64_t), value :: block, elements
      integer(c_int), value :: order
      integer(c_int) :: code
    end function c_set_spectral_block
  end interface
end module sidestream_blocks_c
