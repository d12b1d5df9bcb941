!> The unitary quantum lattice gas for the Gross-Pitaevskii equation: collide, stream, rotate.
!>
!> After J. Yepez, G. Vahala, L. Vahala, M. Soe, "Superfluid turbulence from quantum Kelvin wave to classical Kolmogorov
!> cascades", Phys. Rev. Lett. 103, 084501 (2009; arXiv:0905.0159), and G. Vahala, J. Yepez, L. Vahala, M. Soe, B. Zhang,
!> S. Ziegeler, Phys. Rev. E 84, 046713 (2011; arXiv:1011.6334).
!>
!> Each cell has two complex amplitudes, whose sum is the wave function. A collision is the square root of a swap,
!> C = 1/2 [[1 - i, 1 + i], [1 + i, 1 - i]]. S moves one amplitude by one cell. Along each axis (S^-1 C S C)^2 is done, then
!> both amplitudes are rotated by half of the potential; then all of that again, with the other amplitude moving, which
!> cancels the odd error. With cells and steps of length 1 that is a step of i d(psi)/dt = -Laplace psi + V psi with the
!> potential V = a (g |psi|^2 - 1), of second order where a is refined with the square of the cells.
!>
!> (S^-1 C S C)^2 reaches two cells either way. So each needs one exchange of two layers of both amplitudes on either
!> side: half as many messages as an exchange for each S^-1 C S C, and no corners, since axes are done one after the other.
!> Cells of these layers are computed twice, by the same operations: results are the same bits for any division.
module bec_lattice_gas
  use bec_blocks, only: blocks, is_flat
  use bec_halos, only: fetch, halo
  use bec_sweeps, only: sweep_lines, sweep_rows
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: condensate, load, wave_function, step

  !> A block of the condensate. Components of `amplitudes`: both parts of the first, then of the second.
  type :: condensate
    type(blocks) :: block
    real(real64) :: a = 0, g = 1
    real(real64), allocatable :: amplitudes(:, :, :, :)
    type(halo) :: around(3)
  end type condensate

contains

  !> Sets both amplitudes to half of psi (two components: its parts).
  subroutine load(c, psi)
    type(condensate), intent(inout) :: c
    real(real64), intent(in) :: psi(:, :, :, :)
    integer :: n(3)
    n = c%block%own
    if (.not. allocated(c%amplitudes)) allocate (c%amplitudes(n(1), n(2), n(3), 4))
    c%amplitudes(:, :, :, 1:2) = 0.5_real64 * psi
    c%amplitudes(:, :, :, 3:4) = c%amplitudes(:, :, :, 1:2)
  end subroutine load

  !> psi, in two components.
  subroutine wave_function(c, psi)
    type(condensate), intent(in) :: c
    real(real64), intent(out) :: psi(:, :, :, :)
    psi = c%amplitudes(:, :, :, 1:2) + c%amplitudes(:, :, :, 3:4)
  end subroutine wave_function

  !> Collective: one step.
  subroutine step(c)
    type(condensate), intent(inout) :: c
    call half_step(c, 1)
    call half_step(c, 2)
  end subroutine step

  subroutine half_step(c, moving)
    type(condensate), intent(inout) :: c
    integer, intent(in) :: moving
    integer :: axis
    do axis = 1, 3
      if (is_flat(c%block, axis)) cycle
      call fetch(c%block, axis, 2, c%amplitudes, c%around(axis))
      if (axis == 1) then
        call sweep_lines(moving, c%amplitudes, c%around(axis)%below, c%around(axis)%above)
      else
        call sweep_rows(axis, moving, c%amplitudes, c%around(axis)%below, c%around(axis)%above)
      end if
    end do
    call rotate(size(c%amplitudes) / 4, c%a, c%g, c%amplitudes)
  end subroutine half_step

  !> Multiplies by exp(-i V / 2). It is a rotation for any V but for rounding: with t = tan(V / 4) it is (1 - i t)^2 / (1 + t^2), and
  !> t is a quotient N / D (Pade's of order [5/4], right to 1e-16 for V up to 0.5). No call of a library's sine: that
  !> would differ between the vector's and the remainder's elements, and so between divisions.
  pure subroutine rotate(n, a, g, amplitudes)
    integer, intent(in) :: n
    real(real64), intent(in) :: a, g
    real(real64), intent(inout) :: amplitudes(n, 4)
    real(real64) :: x, y, up, down, norm, cosine, sine, re, im
    integer :: i, k
    do i = 1, n
      re = amplitudes(i, 1) + amplitudes(i, 3)
      im = amplitudes(i, 2) + amplitudes(i, 4)
      x = 0.25_real64 * a * (g * (re * re + im * im) - 1)
      y = x * x
      up = x * (945 + y * (y - 105))
      down = 945 + y * (15 * y - 420)
      norm = 1 / (down * down + up * up)
      cosine = (down * down - up * up) * norm
      sine = 2 * up * down * norm
      do k = 1, 3, 2
        re = amplitudes(i, k)
        im = amplitudes(i, k + 1)
        amplitudes(i, k) = cosine * re + sine * im
        amplitudes(i, k + 1) = cosine * im - sine * re
      end do
    end do
  end subroutine rotate
end module bec_lattice_gas
