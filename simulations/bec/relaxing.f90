!> Quiets the sound of a start: steps in imaginary time, which take energy away.
module bec_relaxing
  use bec_blocks, only: blocks
  use bec_halos, only: fetch, halo
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: relax

  !> Length of a step; in three dimensions it is stable up to 1/6.
  real(real64), parameter :: length = 0.1_real64

contains

  !> Collective: d(psi)/dt = Laplace psi - a (g |psi|^2 - 1) psi, so many steps. Vortices stay where they are but for
  !> slow motion towards each other.
  subroutine relax(b, a, g, steps, psi)
    type(blocks), intent(in) :: b
    real(real64), intent(in) :: a, g
    integer, intent(in) :: steps
    real(real64), intent(inout) :: psi(:, :, :, :)
    real(real64), allocatable :: padded(:, :, :, :)
    type(halo) :: around(3)
    integer :: n
    if (steps == 0) return
    allocate (padded(0:b%own(1) + 1, 0:b%own(2) + 1, 0:b%own(3) + 1, 2), source=0.0_real64)
    do n = 1, steps
      call pad(b, psi, around, padded)
      call descend(b%own, a, g, padded, psi)
    end do
  end subroutine relax

  !> Collective: psi and a layer of cells on its faces. Along an axis of one cell that is the cell itself, whose second
  !> difference is 0.
  subroutine pad(b, psi, around, padded)
    type(blocks), intent(in) :: b
    real(real64), intent(in) :: psi(:, :, :, :)
    type(halo), intent(inout) :: around(3)
    real(real64), intent(inout) :: padded(0:, 0:, 0:, :)
    integer :: axis, n(3)
    n = b%own
    do axis = 1, 3
      call fetch(b, axis, 1, psi, around(axis))
    end do
    padded(1:n(1), 1:n(2), 1:n(3), :) = psi
    padded(0:0, 1:n(2), 1:n(3), :) = around(1)%below
    padded(n(1) + 1:n(1) + 1, 1:n(2), 1:n(3), :) = around(1)%above
    padded(1:n(1), 0:0, 1:n(3), :) = around(2)%below
    padded(1:n(1), n(2) + 1:n(2) + 1, 1:n(3), :) = around(2)%above
    padded(1:n(1), 1:n(2), 0:0, :) = around(3)%below
    padded(1:n(1), 1:n(2), n(3) + 1:n(3) + 1, :) = around(3)%above
  end subroutine pad

  pure subroutine descend(n, a, g, from, psi)
    integer, intent(in) :: n(3)
    real(real64), intent(in) :: a, g, from(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1, 2)
    real(real64), intent(inout) :: psi(n(1), n(2), n(3), 2)
    real(real64) :: potential, laplacian
    integer :: i, j, k, p
    do k = 1, n(3)
      do j = 1, n(2)
        do i = 1, n(1)
          potential = a * (g * (from(i, j, k, 1)**2 + from(i, j, k, 2)**2) - 1)
          do p = 1, 2
            laplacian = ((from(i - 1, j, k, p) + from(i + 1, j, k, p)) + (from(i, j - 1, k, p) + from(i, j + 1, k, p))) &
                        + (from(i, j, k - 1, p) + from(i, j, k + 1, p)) - 6 * from(i, j, k, p)
            psi(i, j, k, p) = from(i, j, k, p) + length * (laplacian - potential * from(i, j, k, p))
          end do
        end do
      end do
    end do
  end subroutine descend
end module bec_relaxing
