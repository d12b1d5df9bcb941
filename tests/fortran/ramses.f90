!> Publishes outputs in RAMSES' format as the code does from its memory: a stand-in with the layout of its arrays, made
!> of the files of one domain for each rank. See test_ramses.py.
!>
!> ramses FILE OUTPUT...            publishes
!> ramses start DATABASE OUTPUT     starts from a database of the same tree, of any ranks, and compares with the output
program ramses
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real64
  use mpi
  use checks
  use sidestream
  use sidestream_ramses
  implicit none
  integer, parameter :: spare = 7 ! unused octs in front, between and behind
  type(sidestream_ramses_run) :: run
  integer :: code, world, ndim, coarse(3), lower(3), upper(3), levels, ncpu, nboundary, ncoarse, myid, ranks, last, n
  integer, allocatable :: headl(:, :), numbl(:, :), next(:), father(:), son(:), cpu_map(:), levelp(:), idp(:), counts(:)
  integer(int8), allocatable :: family(:), tag(:)
  real(real64), allocatable :: xg(:, :), uold(:, :), phi(:), f(:, :), xp(:, :), vp(:, :), mp(:), tp(:)
  real(real64) :: boxlen, gamma
  logical :: is_magnetic

  call MPI_Init(code)
  world = MPI_COMM_WORLD
  if (argument(1) == 'start') then
    call join()
    call read_tree(argument(3))
    call read_cells(argument(3), 'hydro')
    call start_from(argument(2))
  else
    call publish_all()
  end if
  call end_checks()
  call MPI_Finalize(code)

contains

  subroutine join()
    call MPI_Comm_rank(world, myid, code)
    call MPI_Comm_size(world, ranks, code)
    myid = myid + 1
  end subroutine join

  subroutine publish_all()
    call sidestream_ramses_open(argument(1), world, run)
    if (run%was_server) return
    call join()
    do n = 2, command_argument_count()
      call read_tree(argument(n))
      call read_cells(argument(n), 'hydro')
      call read_cells(argument(n), 'grav')
      call read_particles(argument(n))
      call publish(n - 2)
    end do
    call sidestream_ramses_close(run, code)
    call check_error(run%session, code, SIDESTREAM_OK, '')
  end subroutine publish_all

  subroutine start_from(database)
    character(len=*), intent(in) :: database
    type(sidestream_ramses_start) :: start
    real(real64) :: found(size(uold, 1), size(uold, 2))
    integer :: flags(size(son)), octs(size(father)), level, oct, cell
    call sidestream_ramses_start_from(database, world, start, 0)
    call check(start%is_open .and. start%cycle == 0, 'the database opens')
    found = -1
    flags = 0
    do level = levels, 1, -1
      octs(1) = headl(myid, level)
      do oct = 2, numbl(myid, level)
        octs(oct) = next(octs(oct - 1))
      end do
      call sidestream_ramses_flag(start, level, octs(:numbl(myid, level)), xg, lower, ncoarse, flags)
      call sidestream_ramses_fill(start, level, octs(:numbl(myid, level)), xg, lower, ncoarse, found, gamma, 1e-10_real64, &
                                  ndim + 3)
      do oct = 1, numbl(myid, level)
        do cell = ncoarse + octs(oct), size(son), size(father)
          call check((flags(cell) == 1) .eqv. (son(cell) > 0), 'cells are refined as before')
          call check(all(abs(found(cell, :) - uold(cell, :)) <= 1e-12_real64 * uold(cell, :)), 'energies are those before')
          call check(all(abs(found(cell, :ndim + 1) - uold(cell, :ndim + 1)) <= 0), 'density and momenta have the bits')
        end do
      end do
    end do
    call check(start%message == '', trim(start%message))
    call sidestream_ramses_end_start(start)
    call sidestream_ramses_start_from(database//'x', world, start)
    call check(.not. start%is_open .and. index(start%message, 'x') > 0, 'there is no such database')
  end subroutine start_from

  subroutine publish(step)
    integer, intent(in) :: step
    integer :: failed
    do while (sidestream_ramses_pass(run, step, 0.5_real64 * step, failed))
      call check_error(run%session, failed, SIDESTREAM_OK, '')
      call sidestream_ramses_tree(run, myid, coarse, lower, upper, boxlen, headl(myid, :), numbl(myid, :), next, father, &
                                  son, cpu_map, xg, [3.0_real64, 5.0_real64, 2.0_real64])
      call sidestream_ramses_hydro(run, uold, gamma, 1.0e-10_real64, imetal=ndim + 3, magnetic=is_magnetic)
      if (allocated(phi)) call sidestream_ramses_gravity(run, phi, f(:, 1:ndim))
      call sidestream_ramses_cells(run, 'twice', [2 * uold(:, 1)])
      if (allocated(xp) .and. ndim == 2) then
        call sidestream_ramses_particles(run, levelp, xp, vp, mp, int(idp, int64), family, tag, tp)
      else if (allocated(xp)) then
        call sidestream_ramses_particles(run, levelp, xp, vp, mp, idp, family, tag, tp)
      end if
    end do
    call check_error(run%session, failed, SIDESTREAM_OK, '')
  end subroutine publish

  !> Opens the file of this rank's domain; false if there is none.
  logical function opened(folder, kind) result(is_there)
    character(len=*), intent(in) :: folder, kind
    character(len=len_trim(folder) + 40) :: path
    write (path, '(6a, i5.5)') trim(folder), '/', kind, '_', folder(len_trim(folder) - 4:len_trim(folder)), '.out', myid
    inquire (file=path, exist=is_there)
    if (is_there) open (10, file=path, form='unformatted', status='old', action='read')
  end function opened

  subroutine skip(records)
    integer, intent(in) :: records
    integer :: record
    do record = 1, records
      read (10)
    end do
  end subroutine skip

  subroutine read_tree(folder)
    character(len=*), intent(in) :: folder
    integer :: level, list, ngridmax
    if (.not. opened(folder, 'amr')) error stop 'no file amr'
    read (10) ncpu
    if (ncpu /= ranks) error stop 'another number of domains than ranks'
    read (10) ndim
    read (10) coarse
    read (10) levels
    call skip(1)
    read (10) nboundary
    call skip(1)
    read (10) boxlen
    call skip(11)
    lower = 0
    if (nboundary > 0) lower(:min(ndim, 2)) = 1
    upper = coarse - 1 - lower
    ncoarse = product(coarse)
    call read_counts()
    ngridmax = sum(counts) + spare * (size(counts) + 1)
    call renew(ngridmax)
    last = 0
    do level = 1, levels
      do list = 1, ncpu + nboundary
        call read_list(level, list, counts(list + (level - 1) * (ncpu + nboundary)))
      end do
    end do
    close (10)
  end subroutine read_tree

  subroutine read_counts()
    integer, allocatable :: own(:), outer(:)
    integer :: level
    allocate (own(ncpu * levels), outer(nboundary * levels))
    call skip(2)
    read (10) own
    call skip(1)
    if (nboundary > 0) then
      call skip(2)
      read (10) outer
    end if
    counts = [(own(1 + (level - 1) * ncpu:level * ncpu), outer(1 + (level - 1) * nboundary:level * nboundary), &
               level=1, levels)]
    call skip(5)
  end subroutine read_counts

  subroutine renew(ngridmax)
    integer, intent(in) :: ngridmax
    if (allocated(headl)) deallocate (headl, numbl, next, father, son, cpu_map, xg)
    allocate (headl(ncpu, levels), numbl(ncpu, levels), next(ngridmax), father(ngridmax), source=0)
    allocate (son(ncoarse + 2**ndim * ngridmax), cpu_map(ncoarse + 2**ndim * ngridmax), source=0)
    allocate (xg(ngridmax, ndim), source=-1.0_real64)
    read (10) cpu_map(:ncoarse)
  end subroutine renew

  !> Reads a list of octs, and hangs each into the tree. Their numbers fall, with gaps between lists.
  subroutine read_list(level, list, count)
    integer, intent(in) :: level, list, count
    integer :: axis, oct, first
    if (count == 0) return
    first = last + spare
    last = first + count
    call skip(3)
    do axis = 1, ndim
      read (10) xg(last:first + 1:-1, axis)
    end do
    call skip(1 + 2 * ndim + 3 * 2**ndim)
    if (list <= ncpu) then
      headl(list, level) = last
      numbl(list, level) = count
    end if
    do oct = last, first + 1, -1
      next(oct) = merge(oct - 1, 0, oct > first + 1)
      father(oct) = cell_at(xg(oct, :), level - 1)
      son(father(oct)) = oct
      cpu_map(father(oct)) = list
    end do
  end subroutine read_list

  !> The cell of a level that contains a place.
  integer function cell_at(place, level) result(cell)
    real(real64), intent(in) :: place(:)
    integer, intent(in) :: level
    integer :: l, index(3)
    index = 0
    index(:ndim) = int(place)
    cell = 1 + index(1) + coarse(1) * (index(2) + coarse(2) * index(3))
    do l = 1, level
      index(:ndim) = merge(1, 0, place > xg(son(cell), :))
      cell = ncoarse + dot_product(index, [1, 2, 4]) * size(father) + son(cell)
    end do
  end function cell_at

  !> Reads hydrodynamics or gravity into the cells, from the lists in the order of read_tree.
  subroutine read_cells(folder, kind)
    character(len=*), intent(in) :: folder, kind
    integer :: columns, list, child, column, first, at
    real(real64), allocatable :: values(:, :)
    if (.not. opened(folder, kind)) return
    call skip(1)
    read (10) columns
    call skip(merge(3, 2, kind == 'hydro'))
    if (kind == 'hydro') read (10) gamma
    allocate (values(size(son), columns), source=-huge(boxlen))
    first = 0
    do list = 1, size(counts)
      call skip(2)
      if (counts(list) == 0) cycle
      first = first + spare
      do child = 0, 2**ndim - 1
        at = ncoarse + child * size(father) + first
        do column = 1, columns
          read (10) values(at + counts(list):at + 1:-1, column)
        end do
      end do
      first = first + counts(list)
    end do
    close (10)
    if (kind == 'hydro') then
      call conserve(values)
    else
      phi = values(:, 1)
      f = values(:, 2:)
    end if
  end subroutine read_cells

  !> Density, momenta, energy, and density times scalars. The solver for magnetic fields has high faces last.
  subroutine conserve(q)
    real(real64), intent(in) :: q(:, :)
    integer :: axes, axis
    is_magnetic = size(q, 2) == 11
    axes = merge(3, ndim, is_magnetic)
    uold = q
    uold(:, axes + 2) = q(:, merge(11, axes + 2, is_magnetic)) / (gamma - 1)
    do axis = 2, 1 + axes
      uold(:, axis) = q(:, 1) * q(:, axis)
      uold(:, axes + 2) = uold(:, axes + 2) + 0.5_real64 * (uold(:, axis)**2 / q(:, 1))
    end do
    if (is_magnetic) then
      uold(:, 6:11) = q(:, 5:10)
      uold(:, 5) = uold(:, 5) + 0.125_real64 * sum((q(:, 5:7) + q(:, 8:10))**2, 2)
    else
      uold(:, axes + 3) = q(:, 1) * q(:, axes + 3)
    end if
  end subroutine conserve

  !> Every second place of the arrays is free.
  subroutine read_particles(folder)
    character(len=*), intent(in) :: folder
    integer :: count, axis
    if (.not. opened(folder, 'part')) return
    call skip(2)
    read (10) count
    call skip(5)
    if (allocated(xp)) deallocate (xp, vp, mp, tp, idp, levelp, family, tag)
    allocate (xp(2 * count + 1, ndim), vp(2 * count + 1, ndim), mp(2 * count + 1), tp(2 * count + 1), source=-1.0_real64)
    allocate (levelp(2 * count + 1), idp(2 * count + 1), source=0)
    allocate (family(2 * count + 1), tag(2 * count + 1), source=0_int8)
    do axis = 1, ndim
      read (10) xp(2::2, axis)
    end do
    do axis = 1, ndim
      read (10) vp(2::2, axis)
    end do
    read (10) mp(2::2)
    read (10) idp(2::2)
    read (10) levelp(2::2)
    read (10) family(2::2)
    read (10) tag(2::2)
    read (10) tp(2::2)
    close (10)
  end subroutine read_particles
end program ramses
