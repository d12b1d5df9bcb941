!> The division of the periodic box among ranks, into blocks along all three axes.
module bec_blocks
  use mpi
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private
  public :: blocks, divide, is_flat, least_cells

  !> Layers that one exchange moves, and so the least number of cells along an axis that is divided.
  integer, parameter :: least_cells = 2

  !> One rank's block: the cells lo + 1 to hi of each axis, of n.
  type :: blocks
    integer :: comm = MPI_COMM_NULL, rank = 0, ranks = 1
    integer :: n(3) = 1, parts(3) = 1, at(3) = 0  ! cells and blocks of the box, and this block's place among them
    integer :: lo(3) = 0, hi(3) = 1, own(3) = 1   ! own = hi - lo
    integer :: below(3) = 0, above(3) = 0         ! ranks of the neighbours
  end type blocks

contains

  !> Divides n cells among the ranks of `comm`. `possible` is false, on all ranks alike, if blocks would be too thin.
  subroutine divide(n, comm, b, possible)
    integer, intent(in) :: n(3), comm
    type(blocks), intent(out) :: b
    logical, intent(out) :: possible
    integer :: code, axis
    b%comm = comm
    b%n = n
    call MPI_Comm_rank(comm, b%rank, code)
    call MPI_Comm_size(comm, b%ranks, code)
    b%parts = best_parts(n, b%ranks)
    possible = all(b%parts > 0)
    if (.not. possible) return
    b%at = [mod(b%rank, b%parts(1)), mod(b%rank / b%parts(1), b%parts(2)), b%rank / (b%parts(1) * b%parts(2))]
    do axis = 1, 3
      b%lo(axis) = start_of(b, axis, b%at(axis))
      b%hi(axis) = start_of(b, axis, b%at(axis) + 1)
      b%below(axis) = neighbour(b, axis, -1)
      b%above(axis) = neighbour(b, axis, 1)
    end do
    b%own = b%hi - b%lo
  end subroutine divide

  !> True if the box has a single cell along the axis: nothing moves along it.
  pure logical function is_flat(b, axis)
    type(blocks), intent(in) :: b
    integer, intent(in) :: axis
    is_flat = b%n(axis) == 1
  end function is_flat

  pure integer function start_of(b, axis, part)
    type(blocks), intent(in) :: b
    integer, intent(in) :: axis, part
    start_of = int(int(b%n(axis), int64) * part / b%parts(axis))
  end function start_of

  pure integer function neighbour(b, axis, step)
    type(blocks), intent(in) :: b
    integer, intent(in) :: axis, step
    integer :: at(3)
    at = b%at
    at(axis) = modulo(at(axis) + step, b%parts(axis))
    neighbour = at(1) + b%parts(1) * (at(2) + b%parts(2) * at(3))
  end function neighbour

  !> The numbers of blocks along the axes with the least surface; 0 if there are none.
  pure function best_parts(n, ranks) result(best)
    integer, intent(in) :: n(3), ranks
    integer :: best(3), parts(3), p, q
    real :: least, surface
    best = 0
    least = huge(least)
    ! The first of equal surfaces is taken, which divides x least: lines along x are the fastest.
    do p = 1, ranks
      do q = 1, ranks / p
        if (mod(ranks, p * q) /= 0) cycle
        parts = [p, q, ranks / (p * q)]
        if (any(parts > 1 .and. n < least_cells * parts)) cycle
        surface = surface_of(real(n) / real(parts), parts)
        if (surface >= least) cycle
        least = surface
        best = parts
      end do
    end do
  end function best_parts

  !> The area that a block of such a size exchanges: its faces along divided axes.
  pure real function surface_of(size, parts)
    real, intent(in) :: size(3)
    integer, intent(in) :: parts(3)
    surface_of = sum(product(size) / size, mask=parts > 1)
  end function surface_of
end module bec_blocks
