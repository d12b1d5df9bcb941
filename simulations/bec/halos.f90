!> Layers of the neighbours' cells on either side of a block.
module bec_halos
  use bec_blocks, only: blocks
  use mpi
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: halo, fetch

  !> Layers below and above a block along an axis: arrays of the block's rank with few cells along that axis.
  type :: halo
    real(real64), allocatable :: below(:, :, :, :), above(:, :, :, :)
  end type halo

contains

  !> Collective: the layers on either side of `field`, which has the block's cells and any number of components.
  subroutine fetch(b, axis, layers, field, around)
    type(blocks), intent(in) :: b
    integer, intent(in) :: axis, layers
    real(real64), intent(in) :: field(:, :, :, :)
    type(halo), intent(inout) :: around
    real(real64), allocatable :: first(:, :, :, :), last(:, :, :, :)
    integer :: n
    n = b%own(axis)
    call prepare(shape(field), axis, layers, around)
    if (b%parts(axis) == 1) then ! the box is periodic
      call cut(field, axis, n - layers, around%below)
      call cut(field, axis, 0, around%above)
      return
    end if
    allocate (first, mold=around%below)
    allocate (last, mold=around%below)
    call cut(field, axis, 0, first)
    call cut(field, axis, n - layers, last)
    call pass(b%comm, last, b%above(axis), around%below, b%below(axis), 1)
    call pass(b%comm, first, b%below(axis), around%above, b%above(axis), 2)
  end subroutine fetch

  !> Makes room, once for each shape.
  subroutine prepare(extents, axis, layers, around)
    integer, intent(in) :: extents(4), axis, layers
    type(halo), intent(inout) :: around
    integer :: e(4)
    e = extents
    e(axis) = layers
    if (allocated(around%below)) then
      if (all(shape(around%below) == e)) return
      deallocate (around%below, around%above)
    end if
    allocate (around%below(e(1), e(2), e(3), e(4)), around%above(e(1), e(2), e(3), e(4)))
  end subroutine prepare

  !> Copies layers of the field, behind the first `from` of them.
  subroutine cut(field, axis, from, layers)
    real(real64), intent(in) :: field(:, :, :, :)
    integer, intent(in) :: axis, from
    real(real64), intent(out) :: layers(:, :, :, :)
    integer :: n
    n = size(layers, axis)
    select case (axis)
    case (1)
      layers = field(from + 1:from + n, :, :, :)
    case (2)
      layers = field(:, from + 1:from + n, :, :)
    case default
      layers = field(:, :, from + 1:from + n, :)
    end select
  end subroutine cut

  !> Sends to one neighbour and receives from the other. The tag tells directions apart where both are the same rank.
  subroutine pass(comm, out, to, in, from, tag)
    integer, intent(in) :: comm, to, from, tag
    real(real64), contiguous, intent(in) :: out(:, :, :, :)
    real(real64), contiguous, intent(inout) :: in(:, :, :, :)
    integer :: code
    call MPI_Sendrecv(out, size(out), MPI_DOUBLE_PRECISION, to, tag, in, size(in), MPI_DOUBLE_PRECISION, from, tag, &
                      comm, MPI_STATUS_IGNORE, code)
  end subroutine pass
end module bec_halos
