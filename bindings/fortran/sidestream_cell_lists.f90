!> Lists of cells of octrees and refinement levels; sidestream_cells_read for values is in stored_cells.f90.in.
module sidestream_cell_lists
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64
  use sidestream_c
  use sidestream_contexts
  implicit none
  private

  !> Cells of a refined mesh. Entry n of each list is of cell n; the lists exist until sidestream_cells_free. Must not be
  !> copied.
  type, public :: sidestream_cells
    integer(int64) :: count = 0
    integer(int32), pointer :: level(:) => null()
    integer(int64), pointer :: index(:, :) => null() !< index(:, n) is (i, j, k) on the cell's level, counted from 0
    integer(int8), pointer :: refined(:) => null()   !< 1: finer cells lie in it
    integer(int64), pointer :: owner(:) => null()    !< the id of the block that it counts in; of octrees -1: none
    type(c_ptr), private :: handle = c_null_ptr
  end type sidestream_cells

  interface sidestream_context_list_cells
    module procedure list_all, list_box32, list_box64
  end interface sidestream_context_list_cells
  public :: sidestream_context_list_cells, sidestream_cells_free
  ! For the other modules of the library.
  public :: cells_handle

contains

  !> Lists the leaves of the whole mesh. With `deepest`, finer levels do not count; with `all`, parents are listed, too.
  subroutine list_all(context, mesh, cells, coarsest, deepest, all, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    type(sidestream_cells), intent(out) :: cells
    integer, intent(in), optional :: coarsest, deepest
    logical, intent(in), optional :: all
    integer, intent(out), optional :: ierr
    call list(context, mesh, c_cell_choice(), cells, coarsest, deepest, all, ierr)
  end subroutine list_all

  !> Lists those that meet the box lo <= index < hi of cells of `level`, on whatever level.
  subroutine list_box64(context, mesh, level, lo, hi, cells, coarsest, deepest, all, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer, intent(in) :: level
    integer(int64), intent(in) :: lo(:), hi(:)
    type(sidestream_cells), intent(out) :: cells
    integer, intent(in), optional :: coarsest, deepest
    logical, intent(in), optional :: all
    integer, intent(out), optional :: ierr
    type(c_cell_choice) :: choice
    if (size(lo) /= size(hi) .or. size(lo) < 1 .or. size(lo) > 3) then
      call misuse_context(context, "context_list_cells of '" // trim(mesh) &
                          // "': lo and hi have other numbers of entries than 1 to 3; give one for each axis", ierr)
      return
    end if
    choice%has_box = 1
    choice%level = int(level, c_int32_t)
    choice%lo(:size(lo)) = lo
    choice%hi = 1
    choice%hi(:size(hi)) = hi
    call list(context, mesh, choice, cells, coarsest, deepest, all, ierr)
  end subroutine list_box64

  subroutine list_box32(context, mesh, level, lo, hi, cells, coarsest, deepest, all, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    integer, intent(in) :: level
    integer(int32), intent(in) :: lo(:), hi(:)
    type(sidestream_cells), intent(out) :: cells
    integer, intent(in), optional :: coarsest, deepest
    logical, intent(in), optional :: all
    integer, intent(out), optional :: ierr
    call list_box64(context, mesh, level, int(lo, int64), int(hi, int64), cells, coarsest, deepest, all, ierr)
  end subroutine list_box32

  subroutine list(context, mesh, choice, cells, coarsest, deepest, all, ierr)
    type(sidestream_context), intent(inout) :: context
    character(len=*), intent(in) :: mesh
    type(c_cell_choice), intent(in) :: choice
    type(sidestream_cells), intent(inout) :: cells
    integer, intent(in), optional :: coarsest, deepest
    logical, intent(in), optional :: all
    integer, intent(out), optional :: ierr
    type(c_cell_choice) :: own
    type(c_cell_list) :: found
    integer(c_int) :: code
    own = choice
    own%struct_size = c_sizeof(own)
    if (present(coarsest)) own%coarsest = int(coarsest, c_int32_t)
    own%deepest = -1
    if (present(deepest)) own%deepest = int(deepest, c_int32_t)
    if (present(all)) own%all = merge(1_c_int32_t, 0_c_int32_t, all)
    code = c_context_list_cells(context_handle(context), trim(mesh) // c_null_char, own, cells%handle)
    call settle_context(context, code, ierr)
    if (code /= SIDESTREAM_OK) return
    found%struct_size = c_sizeof(found)
    code = c_cells_list(cells%handle, found)
    cells%count = found%count
    if (found%count == 0) then
      allocate (cells%level(0), cells%index(3, 0), cells%refined(0), cells%owner(0))
      return
    end if
    call c_f_pointer(found%level, cells%level, [found%count])
    call c_f_pointer(found%index, cells%index, [3_int64, found%count])
    call c_f_pointer(found%refined, cells%refined, [found%count])
    call c_f_pointer(found%owner, cells%owner, [found%count])
  end subroutine list

  !> Frees the cells and their lists.
  subroutine sidestream_cells_free(cells)
    type(sidestream_cells), intent(inout) :: cells
    integer(c_int) :: ignored
    if (cells%count == 0 .and. associated(cells%level)) deallocate (cells%level, cells%index, cells%refined, cells%owner)
    ignored = c_cells_free(cells%handle)
    cells = sidestream_cells()
  end subroutine sidestream_cells_free

  pure function cells_handle(cells) result(handle)
    type(sidestream_cells), intent(in) :: cells
    type(c_ptr) :: handle
    handle = cells%handle
  end function cells_handle
end module sidestream_cell_lists
