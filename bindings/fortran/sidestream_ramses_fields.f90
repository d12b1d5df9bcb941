!> Variables in the cells of RAMSES.
module sidestream_ramses_fields
  use, intrinsic :: iso_fortran_env, only: real64
  use sidestream
  use sidestream_ramses_base
  implicit none
  private

  !> One variable in cells, made of columns of an array of cells.
  type :: quantity
    character(len=32) :: name = ''
    integer :: how = 0, components = 1, column = 1
    real(real64) :: factor = 1
    character(len=16) :: unit = ''
    integer :: powers(3) = 0 !< of the units of length, time and density
    character(len=400) :: parent = '' !< how parents depend on children
  end type quantity
  integer, parameter :: as_it_is = 0, by_density = 1, of_energy = 2, of_magnetic_energy = 3

  !> Numbers and columns for pressure and velocity.
  type :: gas
    real(real64) :: gamma = 1, least_density = 0
    integer :: momenta = 3, energy = 5, radiations = 0, variables = 5
  end type gas

  interface sidestream_ramses_cells
    module procedure cells_of_one, cells_of_more
  end interface sidestream_ramses_cells

  public :: sidestream_ramses_hydro, sidestream_ramses_gravity, sidestream_ramses_cells

contains

  !> Hydrodynamics as in RAMSES' files: density, velocity, thermal and other pressures, passive scalars. `gamma_rad`: an
  !> entry for each energy that is not thermal. `imetal`: the column of the metallicity. `magnetic`: `uold` is that of
  !> the solver for magnetic fields.
  subroutine sidestream_ramses_hydro(run, uold, gamma, smallr, gamma_rad, imetal, magnetic)
    type(sidestream_ramses_run), intent(inout) :: run
    real(real64), intent(in) :: uold(:, :), gamma, smallr
    real(real64), intent(in), optional :: gamma_rad(:)
    integer, intent(in), optional :: imetal
    logical, intent(in), optional :: magnetic
    type(gas) :: of
    logical :: has_field
    character(len=32) :: name
    integer :: n, first
    has_field = .false.
    if (present(magnetic)) has_field = magnetic
    of = gas(gamma, smallr, run%dimensions, run%dimensions + 2, 0, size(uold, 2))
    if (has_field) of = gas(gamma, smallr, 3, 5, 0, size(uold, 2) - 3)
    if (present(gamma_rad)) of%radiations = size(gamma_rad)
    call put(run, quantity('density', column=1, unit='g cm-3', powers=[0, 0, 1], parent='mean'), uold, of)
    call put(run, quantity(axes_name('velocity', of%momenta), by_density, of%momenta, 2, unit='cm s-1', &
                           powers=[1, -1, 0], parent='mean of density * '//axes_name('velocity', of%momenta)), uold, of)
    if (has_field) call put_field(run, uold, of)
    first = merge(9, run%dimensions + 3, has_field)
    do n = 1, of%radiations
      write (name, '(a, i0.2)') 'non_thermal_energy_', merge(n, first + n - 4, has_field)
      call put(run, quantity(name, column=first + n - 1, factor=gamma_rad(n) - 1, unit='erg cm-3', &
                             powers=[2, -2, 1], parent='mean'), uold, of)
    end do
    call put(run, quantity('pressure', merge(of_magnetic_energy, of_energy, has_field), column=of%energy, &
                           unit='erg cm-3', powers=[2, -2, 1], parent=parent_of_pressure(of, has_field)), uold, of)
    do n = first + of%radiations, of%variables
      write (name, '(a, i0.2)') 'scalar_', n - first - of%radiations
      if (present(imetal)) name = merge('metallicity'//repeat(' ', 21), name, imetal == n)
      call put(run, quantity(name, by_density, column=n, parent='mean of density * '//name), uold, of)
    end do
  end subroutine sidestream_ramses_hydro

  !> Magnetic fields on faces: low ones in columns 6 to 8, high ones in the last three.
  subroutine put_field(run, uold, of)
    type(sidestream_ramses_run), intent(inout) :: run
    real(real64), intent(in) :: uold(:, :)
    type(gas), intent(in) :: of
    character(len=*), parameter :: axes = 'xyz'
    integer :: axis
    do axis = 1, 3
      call put(run, quantity('B_'//axes(axis:axis)//'_left', column=5 + axis, unit='G', powers=[1, -1, 0]), uold, of)
    end do
    do axis = 1, 3
      call put(run, quantity('B_'//axes(axis:axis)//'_right', column=of%variables + axis, unit='G', &
                             powers=[1, -1, 0]), uold, of)
    end do
  end subroutine put_field

  !> Parents have the mean energy of their children.
  function parent_of_pressure(of, has_field) result(text)
    type(gas), intent(in) :: of
    logical, intent(in) :: has_field
    character(len=400) :: text
    character(len=*), parameter :: axes = 'xyz'
    character(len=:), allocatable :: velocity
    integer :: axis
    text = ''
    if (has_field .or. of%gamma <= 1) return
    write (text, '(a, g0)') 'mean of pressure / ', of%gamma - 1
    do axis = 1, of%momenta
      velocity = 'velocity.'//axes(axis:axis)
      if (of%momenta == 1) velocity = 'velocity_x'
      text = trim(text)//' + 0.5 * density * '//velocity//'^2'
    end do
  end function parent_of_pressure

  !> The potential and the acceleration.
  subroutine sidestream_ramses_gravity(run, phi, f)
    type(sidestream_ramses_run), intent(inout) :: run
    real(real64), intent(in) :: phi(:), f(:, :)
    call cells_of_one(run, 'potential', phi, 'cm2 s-2', [2, -2, 0])
    call put(run, quantity(axes_name('acceleration', run%dimensions), components=run%dimensions, unit='cm s-2', &
                           powers=[1, -2, 0]), f, gas())
  end subroutine sidestream_ramses_gravity

  !> Any array of one number for each cell. `powers`: those of the units of length, time and density in `unit`.
  subroutine cells_of_one(run, name, values, unit, powers)
    type(sidestream_ramses_run), intent(inout) :: run
    character(len=*), intent(in) :: name
    real(real64), intent(in), contiguous, target :: values(:)
    character(len=*), intent(in), optional :: unit
    integer, intent(in), optional :: powers(3)
    real(real64), pointer :: columns(:, :)
    columns(1:size(values), 1:1) => values
    call cells_of_more(run, name, columns, unit, powers)
  end subroutine cells_of_one

  !> Any array whose columns are components.
  subroutine cells_of_more(run, name, values, unit, powers)
    type(sidestream_ramses_run), intent(inout) :: run
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: values(:, :)
    character(len=*), intent(in), optional :: unit
    integer, intent(in), optional :: powers(3)
    type(quantity) :: what
    what = quantity(name, components=size(values, 2))
    if (present(unit)) what%unit = unit
    if (present(powers)) what%powers = powers
    call put(run, what, values, gas())
  end subroutine cells_of_more

  !> Declares or publishes a variable in cells.
  subroutine put(run, what, values, of)
    type(sidestream_ramses_run), intent(inout) :: run
    type(quantity), intent(in) :: what
    real(real64), intent(in) :: values(:, :)
    type(gas), intent(in) :: of
    real(real64), pointer :: one(:), more(:, :), to(:, :)
    if (run%stage == declaring) then
      call sidestream_add_variable(run%session, what%name, 'tree', SIDESTREAM_FLOAT64, components=what%components)
      if (what%parent /= '') call sidestream_set_variable_attribute(run%session, what%name, 'parent', what%parent)
      call set_unit(run, what%name, what%unit, what%powers)
      return
    end if
    if (.not. run%has_leaves) return
    if (what%components == 1) then
      call sidestream_alloc(run%session, what%name, run%block, one)
      if (.not. associated(one)) return
      to(1:1, 1:size(one)) => one
    else
      call sidestream_alloc(run%session, what%name, run%block, more)
      if (.not. associated(more)) return
      to(1:, 1:) => more
    end if
    call fill_roots(run, what, values, of, to)
    call gather(what, values, of, run%cells(run%roots + 1:), to(:, run%roots + 1:))
    call sidestream_commit(run%session, what%name, run%block)
    call sidestream_clear(run%session, what%name, run%block)
  end subroutine put

  !> RAMSES has no values in root cells: they get the mean of their children, or 0 without children.
  subroutine fill_roots(run, what, values, of, to)
    type(sidestream_ramses_run), intent(in) :: run
    type(quantity), intent(in) :: what
    real(real64), intent(in) :: values(:, :)
    type(gas), intent(in) :: of
    real(real64), intent(inout) :: to(:, :)
    real(real64) :: parts(what%components, size(run%children, 1))
    integer :: n, child
    do n = 1, run%roots
      to(:, n) = 0
      if (run%children(1, n) == 0) cycle
      call gather(what, values, of, run%children(:, n), parts)
      do child = 1, size(parts, 2)
        to(:, n) = to(:, n) + parts(:, child)
      end do
      to(:, n) = to(:, n) / size(parts, 2)
    end do
  end subroutine fill_roots

  !> Computes a variable in the cells at these places. Operations have the order of RAMSES' output, so that both have
  !> the same bits.
  subroutine gather(what, values, of, cells, to)
    type(quantity), intent(in) :: what
    real(real64), intent(in) :: values(:, :)
    type(gas), intent(in) :: of
    integer, intent(in) :: cells(:)
    real(real64), intent(out) :: to(:, :)
    integer :: n, c
    select case (what%how)
    case (as_it_is)
      do c = 1, what%components
        do n = 1, size(cells)
          to(c, n) = what%factor * values(cells(n), what%column + c - 1)
        end do
      end do
    case (by_density)
      do c = 1, what%components
        do n = 1, size(cells)
          to(c, n) = values(cells(n), what%column + c - 1) / max(values(cells(n), 1), of%least_density)
        end do
      end do
    case (of_energy)
      to(1, :) = values(cells, of%energy)
      do c = 2, 1 + of%momenta
        do n = 1, size(cells)
          to(1, n) = to(1, n) - 0.5_real64 * values(cells(n), c)**2 / max(values(cells(n), 1), of%least_density)
        end do
      end do
      do c = of%energy + 1, of%energy + of%radiations
        to(1, :) = to(1, :) - values(cells, c)
      end do
      to(1, :) = (of%gamma - 1) * to(1, :)
    case (of_magnetic_energy)
      do n = 1, size(cells)
        to(1, n) = magnetic_pressure(values(cells(n), :), of)
      end do
    end select
  end subroutine gather

  pure real(real64) function magnetic_pressure(u, of) result(pressure)
    real(real64), intent(in) :: u(:)
    type(gas), intent(in) :: of
    real(real64) :: density, v(3), b(3)
    integer :: n
    density = max(u(1), of%least_density)
    v = u(2:4) / density
    b = 0.5_real64 * (u(6:8) + u(of%variables + 1:of%variables + 3))
    pressure = u(5) - 0.5_real64 * density * (v(1)**2 + v(2)**2 + v(3)**2) - 0.5_real64 * (b(1)**2 + b(2)**2 + b(3)**2)
    do n = 9, 8 + of%radiations
      pressure = pressure - u(n)
    end do
    pressure = (of%gamma - 1) * pressure
  end function magnetic_pressure
end module sidestream_ramses_fields
