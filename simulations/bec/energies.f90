!> Norms and energies.
module bec_energies
  use bec_blocks, only: is_flat
  use bec_exact_sums, only: exact_sum
  use bec_halos, only: fetch, halo
  use bec_lattice_gas, only: condensate, wave_function
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: energies, measure

  !> Sums over all cells.
  type :: energies
    real(real64) :: norm = 0         ! of both amplitudes: the scheme conserves it
    real(real64) :: particles = 0    ! |psi|^2: conserved as far as the scheme is accurate
    real(real64) :: gradient = 0     ! |grad psi|^2: kinetic and quantum energy
    real(real64) :: interaction = 0  ! a g / 2 (|psi|^2 - 1 / g)^2
    real(real64) :: total = 0        ! gradient + interaction
  end type energies

contains

  !> Collective: the same bits for any number of ranks.
  function measure(c) result(e)
    type(condensate), intent(inout) :: c
    type(energies) :: e
    real(real64), allocatable :: psi(:, :, :, :), terms(:, :, :)
    integer :: axis, comm
    comm = c%block%comm
    allocate (psi(c%block%own(1), c%block%own(2), c%block%own(3), 2))
    terms = (c%amplitudes(:, :, :, 1)**2 + c%amplitudes(:, :, :, 2)**2) + &
            (c%amplitudes(:, :, :, 3)**2 + c%amplitudes(:, :, :, 4)**2)
    e%norm = exact_sum(terms, comm)
    call wave_function(c, psi)
    terms = psi(:, :, :, 1)**2 + psi(:, :, :, 2)**2
    e%particles = exact_sum(terms, comm)
    terms = 0.5_real64 * c%a * c%g * (terms - 1 / c%g)**2
    e%interaction = exact_sum(terms, comm)
    do axis = 1, 3
      if (is_flat(c%block, axis)) cycle
      ! The sum of -psi* psi'' by differences of the fourth order.
      e%gradient = e%gradient + 4 / 3.0_real64 * differences(c, psi, axis, 1) - differences(c, psi, axis, 2) / 12
    end do
    e%total = e%gradient + e%interaction
  end function measure

  !> Collective: the sum of |psi(i + distance) - psi(i)|^2, of cells along an axis.
  function differences(c, psi, axis, distance) result(total)
    type(condensate), intent(in) :: c
    real(real64), intent(in) :: psi(:, :, :, :)
    integer, intent(in) :: axis, distance
    real(real64) :: total
    real(real64), allocatable :: next(:, :, :, :)
    type(halo) :: around
    integer :: n
    n = c%block%own(axis)
    call fetch(c%block, axis, distance, psi, around)
    next = cshift(psi, distance, axis)
    select case (axis)
    case (1)
      next(n - distance + 1:, :, :, :) = around%above
    case (2)
      next(:, n - distance + 1:, :, :) = around%above
    case default
      next(:, :, n - distance + 1:, :) = around%above
    end select
    next = (next - psi)**2
    total = exact_sum(next(:, :, :, 1) + next(:, :, :, 2), c%block%comm)
  end function differences
end module bec_energies
