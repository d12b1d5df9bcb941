!> Boxes of one to three axes.
module sidestream_boxes
  use, intrinsic :: iso_fortran_env, only: int64
  use sidestream_base
  implicit none
  private
  public :: is_box, box_of, block_of, are_axes, are_as_many

contains

  !> True if `lo` and `hi` of these sizes make a box; otherwise the call fails.
  logical function is_box(session, call_name, lo, hi, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: call_name
    integer, intent(in) :: lo, hi
    integer, intent(inout), optional :: ierr
    character(len=160) :: said
    is_box = lo == hi .and. lo >= 1 .and. lo <= 3
    if (is_box) return
    write (said, '(2a,i0,a,i0,a)') call_name, ': lo has ', lo, ' entries and hi ', hi, &
      ', expected 1 to 3, as many of each; give one for each axis of the mesh'
    call misuse(session, trim(said), ierr)
  end function is_box

  !> The columns lo and hi, with [0, 1) on axes that are not given.
  pure function box_of(lo, hi) result(box)
    integer(int64), intent(in) :: lo(:), hi(:)
    integer(int64) :: box(3, 2)
    box(:, 1) = 0
    box(:, 2) = 1
    box(:size(lo), 1) = lo
    box(:size(hi), 2) = hi
  end function box_of

  !> The same for a block: the library reports the error if the mesh has an axis that is not given.
  pure function block_of(lo, hi) result(box)
    integer(int64), intent(in) :: lo(:), hi(:)
    integer(int64) :: box(3, 2)
    box = -huge(0_int64) - 1
    box(:size(lo), 1) = lo
    box(:size(hi), 2) = hi
  end function block_of

  !> True if a mesh may have `axes` axes, and `origin` and `spacing` have as many entries; otherwise the call fails.
  logical function are_axes(session, call_name, axes, origin, spacing, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: call_name
    integer, intent(in) :: axes, origin, spacing
    integer, intent(inout), optional :: ierr
    character(len=200) :: said
    are_axes = axes >= 1 .and. axes <= 3 .and. origin == axes .and. spacing == axes
    if (are_axes) return
    write (said, '(2a,i0,a,i0,a,i0,a)') call_name, ': ', axes, ' numbers of cells, ', origin, ' origins and ', spacing, &
      ' spacings, expected 1 to 3, as many of each; give one for each axis of the mesh'
    call misuse(session, trim(said), ierr)
  end function are_axes

  !> True if there are as many of something as expected; otherwise the call fails.
  logical function are_as_many(session, call_name, what, found, expected, ierr)
    type(sidestream_session), intent(inout) :: session
    character(len=*), intent(in) :: call_name, what
    integer, intent(in) :: found, expected
    integer, intent(inout), optional :: ierr
    character(len=200) :: said
    are_as_many = found == expected
    if (are_as_many) return
    write (said, '(2a,i0,3a,i0,a)') call_name, ': found ', found, ' ', what, ', expected ', expected, '; give as many'
    call misuse(session, trim(said), ierr)
  end function are_as_many
end module sidestream_boxes
