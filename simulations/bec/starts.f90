!> Wave functions to begin with, all exactly periodic.
!>
!> A vortex line is a zero of a complex function w. psi = f(|w|) w / |w|, with the profile f of a straight line by Pade's
!> approximation in the paper of G. Vahala and others, Phys. Rev. E 84, 046713 (2011).
module bec_starts
  use bec_blocks, only: blocks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: start, begin

  real(real64), parameter :: pi = acos(-1.0_real64)

  !> The state to begin with. Centres and distances are fractions of the box.
  type :: start
    character(len=16) :: kind = 'tangle'
    real(real64) :: separation = 0.5_real64 ! of the lines of a quadruple
    real(real64) :: radius = 0.25_real64    ! of rings
    integer :: winding = 1                  ! times that the phase winds round a line
    integer :: seed = 0                     ! of the centres of a tangle's quadruples; 0: the usual ones
  end type start

contains

  !> psi, in two components, of this rank's cells. The middle of cell i is at i - 1/2.
  subroutine begin(how, b, a, g, psi)
    type(start), intent(in) :: how
    type(blocks), intent(in) :: b
    real(real64), intent(in) :: a, g
    real(real64), intent(out) :: psi(:, :, :, :)
    real(real64) :: at(3), centres(2, 3)
    complex(real64) :: value
    integer :: i, j, k
    centres = centres_of(how%seed)
    do k = 1, b%own(3)
      do j = 1, b%own(2)
        do i = 1, b%own(1)
          at = (b%lo + [i, j, k] - 0.5_real64) / b%n
          select case (how%kind)
          case ('quadrupole')
            value = quadruple(how, a, b%n(1:2), at(1:2) - 0.5_real64)
          case ('rings')
            value = rings(how, a, b%n, at)
          case default
            value = quadruple(how, a, b%n([1, 2]), at([1, 2]) - centres(:, 1)) &
                    * quadruple(how, a, b%n([2, 3]), at([2, 3]) - centres(:, 2)) &
                    * quadruple(how, a, b%n([3, 1]), at([3, 1]) - centres(:, 3))
          end select
          psi(i, j, k, :) = [real(value), aimag(value)] / sqrt(g)
        end do
      end do
    end do
  end subroutine begin

  !> Four lines of alternating sign round the place 0, at half of the separation along both axes.
  pure function quadruple(how, a, n, at) result(value)
    type(start), intent(in) :: how
    real(real64), intent(in) :: a, at(2)
    integer, intent(in) :: n(2)
    complex(real64) :: value
    real(real64) :: w(2)
    w = n / (2 * pi) * (cos(2 * pi * at) - cos(pi * how%separation)) / sin(pi * how%separation)
    value = line(how%winding, a, cmplx(w(1), w(2), real64))
  end function quadruple

  !> Two rings about the middle of x and y, at a quarter and three quarters of z, which move towards each other.
  pure function rings(how, a, n, at) result(value)
    type(start), intent(in) :: how
    real(real64), intent(in) :: a, at(3)
    integer, intent(in) :: n(3)
    complex(real64) :: value
    real(real64) :: from_axis, along
    from_axis = hypot(n(1) / pi * cos(pi * at(1)), n(2) / pi * cos(pi * at(2)))
    along = n(3) / (2 * pi) * cos(2 * pi * at(3))
    value = line(how%winding, a, cmplx(from_axis - how%radius * minval(n(1:2)), along, real64))
  end function rings

  !> sqrt(g) psi near a line, for the bulk density 1 / g.
  pure function line(winding, a, w) result(value)
    integer, intent(in) :: winding
    real(real64), intent(in) :: a
    complex(real64), intent(in) :: w
    complex(real64) :: value
    real(real64) :: s
    s = a * (real(w)**2 + aimag(w)**2)
    value = sqrt(11 * a * (12 + s) / (384 + s * (128 + 11 * s))) * w
    if (winding > 1 .and. s > 0) value = value * (w / abs(w))**(winding - 1)
  end function line

  !> Centres of the quadruples of lines along z, x and y: in (x, y), (y, z) and (z, x).
  pure function centres_of(seed) result(centres)
    integer, intent(in) :: seed
    real(real64) :: centres(2, 3)
    integer(int64) :: state
    integer :: i, j
    centres = reshape([0.30_real64, 0.24_real64, 0.42_real64, 0.28_real64, 0.48_real64, 0.46_real64], [2, 3])
    if (seed == 0) return
    state = seed
    do j = 1, 3
      do i = 1, 2
        state = mod(state * 48271, 2147483647_int64) ! Park and Miller's generator
        state = mod(state * 48271, 2147483647_int64)
        centres(i, j) = real(state, real64) / 2147483647
      end do
    end do
  end function centres_of
end module bec_starts
