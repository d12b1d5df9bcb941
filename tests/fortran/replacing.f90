!> Replaces its blocks in each iteration; see tests/support/replaced.py.
!>
!> replacing FILE
program replacing
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use checks
  use sidestream
  implicit none
  integer, parameter :: steps = 6, tiles = 18, dots = 6
  type(sidestream_session) :: session
  integer :: code, comm, rank, ranks, step
  logical :: had(0:tiles - 1)
  call MPI_Init(code)
  call sidestream_open(MPI_COMM_WORLD, argument(1), session)
  if (sidestream_is_server(session)) then
    call sidestream_serve(session)
  else
    call sidestream_get_comm(session, comm)
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, ranks, code)
    had = .false.
    do step = 0, steps - 1
      call publish_tiles()
      call publish_dots()
      call sidestream_end_iteration(session, step, real(step, real64), code)
      call check_error(session, code, SIDESTREAM_OK, '')
    end do
    call sidestream_replace_blocks(session, 'm', [1, 2], reshape([0, 0], [2, 1]), reshape([4, 4], [2, 1]), ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'found 1 columns of lo, expected 2')
  end if
  call sidestream_close(session, ierr=code)
  call check_error(session, code, SIDESTREAM_OK, '')
  call end_checks()
  call MPI_Finalize(code)

contains

  !> With many ranks the last one never has a block.
  logical function is_mine(number)
    integer, intent(in) :: number
    is_mine = modulo(number + step / 2, merge(ranks - 1, ranks, ranks > 3)) == rank
  end function is_mine

  subroutine publish_tiles()
    integer :: b, n, ids(tiles), levels(tiles), lo(2, tiles), hi(2, tiles), extent
    n = 0
    do b = 0, tiles - 1
      if (.not. is_mine(b) .or. (b >= 16 .and. modulo(step + b, 2) /= 0)) cycle
      n = n + 1
      ids(n) = b
      levels(n) = merge(1, 0, b >= 16)
      lo(:, n) = merge([8 * (b - 16), 8], [4 * modulo(b, 4), 4 * (b / 4)], b >= 16)
      hi(:, n) = lo(:, n) + merge(8, 4, b >= 16)
    end do
    call sidestream_replace_blocks(session, 'm', ids(:n), lo(:, :n), hi(:, :n), levels(:n), code)
    call check_error(session, code, SIDESTREAM_OK, '')
    do b = 1, n
      extent = hi(1, b) - lo(1, b)
      if (.not. had(ids(b))) call sidestream_publish(session, 'born', ids(b), spread(spread(ids(b), 1, extent), 2, extent))
      call sidestream_publish(session, 't', ids(b), &
                              spread(spread(real(ids(b) + 100 * step, real64), 1, extent), 2, extent))
    end do
    had = .false.
    had(ids(:n)) = .true.
  end subroutine publish_tiles

  subroutine publish_dots()
    integer :: p, n
    integer(int64) :: ids(dots), lengths(dots)
    n = 0
    do p = 100, 105
      if (.not. is_mine(p) .or. modulo(step + p, 3) == 0) cycle
      n = n + 1
      ids(n) = p
      lengths(n) = modulo(step + p, 4)
    end do
    call sidestream_replace_block_lists(session, 'dots', ids(:n), lengths(:n), &
                                        bounds=spread([0.0_real64, 0.0_real64, 0.0_real64, 1.0_real64, 1.0_real64, &
                                                       0.0_real64], 2, n))
    do p = 1, n
      call sidestream_publish(session, 'place', ids(p), spread(spread(0.5_real64, 1, int(lengths(p))), 2, 2))
      call sidestream_publish(session, 'mass', ids(p), spread(real(step + ids(p), real64), 1, int(lengths(p))))
    end do
  end subroutine publish_dots
end program replacing
