!> The command line. Every rank reads it and comes to the same.
module bec_options
  use bec_starts, only: start
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: options, read_options, help

  type :: options
    integer :: n(3) = 64              ! cells; a single one along z makes it two-dimensional
    real(real64) :: a = 0.02_real64   ! strength of the potential: the healing length is 1 / sqrt(a) cells
    real(real64) :: g = 1             ! the bulk density is 1 / g
    integer :: steps = 400, every = 25, report = 0, relax = 0
    type(start) :: start
    character(len=512) :: sidestream = '', dump = ''
    logical :: quiet = .false., help = .false.
  end type options

contains

  !> `message` is a sentence if the command line is wrong, and empty otherwise.
  subroutine read_options(o, message)
    type(options), intent(out) :: o
    character(len=:), allocatable, intent(out) :: message
    character(len=512) :: name, value
    integer :: i
    message = ''
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, name)
      i = i + 1
      select case (name)
      case ('--help', '-h')
        o%help = .true.
      case ('--quiet')
        o%quiet = .true.
      case default
        value = ''
        if (i <= command_argument_count()) call get_command_argument(i, value)
        i = i + 1
        call set(o, trim(name), trim(value), message)
      end select
      if (message /= '') return
    end do
    call check(o, message)
  end subroutine read_options

  subroutine set(o, name, value, message)
    type(options), intent(inout) :: o
    character(len=*), intent(in) :: name, value
    character(len=:), allocatable, intent(inout) :: message
    integer :: status
    status = 0
    select case (name)
    case ('--size')
      call read_size(value, o%n, status)
    case ('--a')
      read (value, *, iostat=status) o%a
    case ('--g')
      read (value, *, iostat=status) o%g
    case ('--steps')
      read (value, *, iostat=status) o%steps
    case ('--every')
      read (value, *, iostat=status) o%every
    case ('--report')
      read (value, *, iostat=status) o%report
    case ('--relax')
      read (value, *, iostat=status) o%relax
    case ('--separation')
      read (value, *, iostat=status) o%start%separation
    case ('--radius')
      read (value, *, iostat=status) o%start%radius
    case ('--winding')
      read (value, *, iostat=status) o%start%winding
    case ('--seed')
      read (value, *, iostat=status) o%start%seed
    case ('--start')
      o%start%kind = value
    case ('--sidestream')
      o%sidestream = value
    case ('--dump')
      o%dump = value
    case default
      message = "there is no option '" // name // "'"
      return
    end select
    if (value == '') status = 1
    if (status /= 0) message = name // ": found '" // value // "', expected " // kind_of(name)
  end subroutine set

  pure function kind_of(name) result(text)
    character(len=*), intent(in) :: name
    character(len=:), allocatable :: text
    select case (name)
    case ('--size')
      text = 'one, two or three whole numbers with commas between them'
    case ('--a', '--g', '--separation', '--radius')
      text = 'a number'
    case ('--start', '--sidestream', '--dump')
      text = 'a name'
    case default
      text = 'a whole number'
    end select
  end function kind_of

  !> '64' is a cube, '64,48' two-dimensional, '64,48,32' a box.
  subroutine read_size(text, n, status)
    character(len=*), intent(in) :: text
    integer, intent(inout) :: n(3)
    integer, intent(out) :: status
    integer :: i, numbers
    numbers = count([(text(i:i) == ',', i=1, len(text))]) + 1
    status = merge(0, 1, numbers <= 3)
    if (status /= 0) return
    read (text, *, iostat=status) n(:numbers)
    if (numbers == 1) n = n(1)
    if (numbers == 2) n(3) = 1
  end subroutine read_size

  subroutine check(o, message)
    type(options), intent(in) :: o
    character(len=:), allocatable, intent(inout) :: message
    if (any(o%n(1:2) < 4) .or. (o%n(3) < 4 .and. o%n(3) /= 1)) then
      message = '--size: expected at least 4 cells along each axis, or a single one along z'
    else if (o%a <= 0 .or. o%a > 1 .or. o%g <= 0) then
      message = '--a, --g: expected numbers above 0, and a up to 1'
    else if (o%steps < 0 .or. o%every < 1 .or. o%report < 0 .or. o%relax < 0) then
      message = '--steps, --every, --report, --relax: expected numbers of steps'
    else if (all(o%start%kind /= [character(len=10) :: 'quadrupole', 'tangle', 'rings'])) then
      message = "--start: found '" // trim(o%start%kind) // "', expected quadrupole, tangle or rings"
    else if (o%n(3) == 1 .and. o%start%kind /= 'quadrupole') then
      message = '--start: in two dimensions only quadrupole is possible'
    else if (o%start%separation <= 0 .or. o%start%separation >= 1) then
      message = '--separation: expected a fraction of the box, between 0 and 1'
    else if (o%start%winding < 1 .or. o%start%seed < 0) then
      message = '--winding, --seed: expected whole numbers of at least 1 and 0'
    end if
  end subroutine check

  function help() result(text)
    character(len=:), allocatable :: text
    character, parameter :: nl = new_line('a')
    text = 'Usage: bec [OPTION VALUE]...' // nl // &
           'A Bose-Einstein condensate with quantum vortices, by the unitary quantum lattice gas.' // nl // nl // &
           '--size N[,N[,N]]   cells: a cube, or along x and y, or along x, y and z (64)' // nl // &
           '--a NUMBER         strength of the potential; the healing length is 1 / sqrt(a) cells (0.02)' // nl // &
           '--g NUMBER         the bulk density is 1 / g (1)' // nl // &
           '--start NAME       tangle (twelve lines), quadrupole (four along z) or rings (two)' // nl // &
           '--separation S     of the lines of a quadruple, as a fraction of the box (0.5)' // nl // &
           '--radius R         of the rings, as a fraction of the box (0.25)' // nl // &
           '--winding N        times that the phase winds round each line (1)' // nl // &
           '--seed N           another number, other centres of the quadruples of a tangle (0)' // nl // &
           '--relax N          steps in imaginary time before the first, which quiet the sound of the start (0)' // nl // &
           '--steps N          steps (400)' // nl // &
           '--every N          publish every so many steps; the start is step 0 (25)' // nl // &
           '--report N         print norms and energies every so many steps; 0 for none (0)' // nl // &
           '--dump FILE        write re, im and density at the end, as raw float64' // nl // &
           '--sidestream FILE  publish as this Sidestream configuration says' // nl // &
           '--quiet            print nothing but errors and reports'
  end function help
end module bec_options
