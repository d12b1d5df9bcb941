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
    integer :: n
    places = pack([(n, n=1, size(levelp))], levelp > 0)
    if (run%stage == declaring) then
      call sidestream_add_points_mesh(run%session, 'particles', size(xp, 2), 'particle_'//axes_name('position', size(xp, 2)))
    else
      call sidestream_set_block_list(run%session, 'particles', run%block, size(places))
    end if
    call put_vector(run, places, axes_name('position', size(xp, 2)), xp, 'cm', [1, 0, 0])
    call put_vector(run, places, axes_name('velocity', size(xp, 2)), vp, 'cm s-1', [1, -1, 0])
    call put_list(run, places, 'mass', mp, merge('g', ' ', size(xp, 2) == 3), [3, 0, 1])
    call put_list(run, places, 'identity', idp)
    call put_list(run, places, 'levelp', levelp)
    if (present(family)) call put_list(run, places, 'family', family)
    if (present(tag)) call put_list(run, places, 'tag', tag)
    if (present(birth)) call put_list(run, places, 'birth_time', birth, 's', [0, 1, 0])
    if (present(metals)) call put_list(run, places, 'metallicity', metals)
  end subroutine sidestream_ramses_particles

  !> Declares or publishes the columns as components.
  subroutine put_vector(run, places, name, values, unit, powers)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: places(:), powers(3)
    character(len=*), intent(in) :: name, unit
    real(real64), intent(in) :: values(:, :)
    if (size(values, 2) == 1) then
      call put_list(run, places, name, values(:, 1), unit, powers)
    else if (run%stage == declaring) then
      call sidestream_add_variable(run%session, 'particle_'//name, 'particles', SIDESTREAM_FLOAT64, SIDESTREAM_NODE, &
                                   size(values, 2))
      call set_unit(run, 'particle_'//name, unit, powers)
    else if (size(places) > 0) then
      call sidestream_publish(run%session, 'particle_'//name, run%block, values(places, :))
    end if
  end subroutine put_vector

  !> Declares or publishes one number for each particle.
  subroutine put_list(run, places, name, values, unit, powers)
    type(sidestream_ramses_run), intent(inout) :: run
    integer, intent(in) :: places(:)
    character(len=*), intent(in) :: name
    class(*), intent(in) :: values(:)
    character(len=*), intent(in), optional :: unit
    integer, intent(in), optional :: powers(3)
    character(len=48) :: full
    integer :: type
    full = 'particle_'//name
    type = SIDESTREAM_FLOAT64
    select type (values)
    type is (integer(int8))
      type = SIDESTREAM_INT8
      if (is_due()) call sidestream_publish(run%session, full, run%block, values(places))
    type is (integer(int32))
      type = SIDESTREAM_INT32
      if (is_due()) call sidestream_publish(run%session, full, run%block, values(places))
    type is (integer(int64))
      type = SIDESTREAM_INT64
      if (is_due()) call sidestream_publish(run%session, full, run%block, values(places))
    type is (real(real64))
      if (is_due()) call sidestream_publish(run%session, full, run%block, values(places))
    end select
    if (run%stage /= declaring) return
    call sidestream_add_variable(run%session, full, 'particles', type, SIDESTREAM_NODE)
    if (present(unit)) call set_unit(run, full, unit, powers)
  contains
    logical function is_due()
      is_due = run%stage == publishing .and. size(places) > 0
    end function is_due
  end subroutine put_list
end module sidestream_ramses_particle_lists
