!> Particles of RAMSES.
module sidestream_ramses_particle_lists
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real64
  use sidestream
  use sidestream_ramses_base
  implicit none
  private

  public :: sidestream_ramses_particles

contains

  !> Particles whose `levelp` is above 0, in the order of the arrays. `idp` has 32 or 64 bits; `family` and `tag` are
  !> typep%family and typep%tag; `birth` is tp, `metals` is zp.
  subroutine sidestream_ramses_particles(run, levelp, xp, vp, mp, idp, family, tag, birth, metals)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: levelp(:)
    real(real64), intent(in) :: xp(:, :), vp(:, :), mp(:)
    class(*), intent(in) :: idp(:)
    integer(int8), intent(in), optional :: family(:), tag(:)
    real(real64), intent(in), optional :: birth(:), metals(:)
    integer, allocatable :: places(:)
    integer :: n, count
    if (run%stage == declaring) then
      call sidestream_add_points_mesh(run%session, 'particles', size(xp, 2), named('position', size(xp, 2)))
    else
      count = 0
      allocate (places(size(levelp)))
      do n = 1, size(levelp)
        if (levelp(n) <= 0) cycle
        count = count + 1
        places(count) = n
      end do
      places = places(:count)
      call sidestream_set_block_list(run%session, 'particles', run%block, count)
    end if
    call put_reals(run, places, named('position', size(xp, 2)), xp, 'cm', [1, 0, 0])
    call put_reals(run, places, named('velocity', size(xp, 2)), vp, 'cm s-1', [1, -1, 0])
    call put_list(run, places, 'particle_mass', mp, merge('g', ' ', size(xp, 2) == 3), [3, 0, 1])
    select type (idp)
    type is (integer(int32))
      call put_integers(run, places, 'particle_identity', SIDESTREAM_INT32, of_four=idp)
    type is (integer(int64))
      call put_integers(run, places, 'particle_identity', SIDESTREAM_INT64, of_eight=idp)
    end select
    call put_integers(run, places, 'particle_levelp', SIDESTREAM_INT32, of_four=levelp)
    if (present(family)) call put_integers(run, places, 'particle_family', SIDESTREAM_INT8, of_one=family)
    if (present(tag)) call put_integers(run, places, 'particle_tag', SIDESTREAM_INT8, of_one=tag)
    if (present(birth)) call put_list(run, places, 'particle_birth_time', birth, 's', [0, 1, 0])
    if (present(metals)) call put_list(run, places, 'particle_metallicity', metals, '', [0, 0, 0])
  end subroutine sidestream_ramses_particles

  function named(name, components) result(full)
    character(len=*), intent(in) :: name
    integer, intent(in) :: components
    character(len=48) :: full
    full = 'particle_'//axes_name(name, components)
  end function named

  subroutine put_list(run, places, name, values, unit, powers)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, allocatable, intent(in) :: places(:)
    character(len=*), intent(in) :: name, unit
    real(real64), intent(in), contiguous, target :: values(:)
    integer, intent(in) :: powers(3)
    real(real64), pointer :: column(:, :)
    column(1:size(values), 1:1) => values
    call put_reals(run, places, name, column, unit, powers)
  end subroutine put_list

  !> Declares or publishes the columns as components.
  subroutine put_reals(run, places, name, values, unit, powers)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, allocatable, intent(in) :: places(:)
    character(len=*), intent(in) :: name, unit
    real(real64), intent(in) :: values(:, :)
    integer, intent(in) :: powers(3)
    if (run%stage == declaring) then
      call sidestream_add_variable(run%session, name, 'particles', SIDESTREAM_FLOAT64, SIDESTREAM_NODE, size(values, 2))
      call set_unit(run, name, unit, powers)
    else if (size(places) > 0 .and. size(values, 2) == 1) then
      call sidestream_publish(run%session, name, run%block, values(places, 1))
    else if (size(places) > 0) then
      call sidestream_publish(run%session, name, run%block, values(places, :))
    end if
  end subroutine put_reals

  !> One of the arrays is given.
  subroutine put_integers(run, places, name, type, of_one, of_four, of_eight)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, allocatable, intent(in) :: places(:)
    character(len=*), intent(in) :: name
    integer, intent(in) :: type
    integer(int8), intent(in), optional :: of_one(:)
    integer(int32), intent(in), optional :: of_four(:)
    integer(int64), intent(in), optional :: of_eight(:)
    if (run%stage == declaring) then
      call sidestream_add_variable(run%session, name, 'particles', type, SIDESTREAM_NODE)
      return
    end if
    if (size(places) == 0) return
    if (present(of_one)) call sidestream_publish(run%session, name, run%block, of_one(places))
    if (present(of_four)) call sidestream_publish(run%session, name, run%block, of_four(places))
    if (present(of_eight)) call sidestream_publish(run%session, name, run%block, of_eight(places))
  end subroutine put_integers
end module sidestream_ramses_particle_lists
