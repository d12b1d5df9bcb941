!> Parts that the modules for RAMSES share: the run, units and names.
module sidestream_ramses_base
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use sidestream
  implicit none
  private

  integer, parameter, public :: idle = 0, declaring = 1, publishing = 2 !< what calls do with their arguments

  !> A run of RAMSES and its session. Must not be copied. Components below the first two are for the other modules.
  type, public :: sidestream_ramses_run
    type(sidestream_session) :: session !< for further calls of `sidestream`
    logical :: was_server = .false.     !< this rank does not run RAMSES
    integer :: stage = idle
    logical :: is_started = .false., has_leaves = .false.
    integer :: dimensions = 3, roots = 1
    integer(int64) :: block = 0
    real(real64) :: units(3) = 0          !< of length, time and density in cgs; 0: unknown
    integer, allocatable :: cells(:)      !< the place of each cell of the tree in RAMSES' arrays
    integer, allocatable :: children(:, :) !< places of the children of each root; 0: none
  end type sidestream_ramses_run

  public :: set_unit, axes_name

contains

  !> Declares the unit of a variable: `unit` times the powers of the units of length, time and density.
  subroutine set_unit(run, name, unit, powers)
    type(sidestream_ramses_run), intent(inout) :: run
    character(len=*), intent(in) :: name, unit
    integer, intent(in) :: powers(3)
    character(len=64) :: text
    real(real64) :: factor
    integer :: zeros, letter
    if (unit == '' .or. any(run%units <= 0)) return
    factor = product(run%units**powers)
    if (unit == 'G') factor = factor * sqrt(16 * atan(1.0_real64) * run%units(3)) ! B**2 / 2 is an energy density
    write (text, '(es17.10)') factor
    text = adjustl(text)
    letter = index(text, 'E')
    zeros = verify(text(:letter - 1), '0.', back=.true.)
    text = text(:max(zeros, 1))//text(letter:)
    if (text == '1E+00') text = ''
    call sidestream_set_variable_attribute(run%session, name, 'unit', trim(adjustl(trim(text)//' '//unit)))
  end subroutine set_unit

  !> The name of a vector. In one dimension it is that of its only component, as in databases that were imported.
  pure function axes_name(name, components) result(full)
    character(len=*), intent(in) :: name
    integer, intent(in) :: components
    character(len=32) :: full
    full = name
    if (components == 1) full = name//'_x'
  end function axes_name
end module sidestream_ramses_base
