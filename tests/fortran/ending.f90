!> Rank 0 gets a signal that tells the run to end; all ranks learn of it at the end of that iteration.
program ending
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use checks
  use sidestream
  implicit none
  interface
    function c_raise(number) bind(C, name='raise') result(status)
      import :: c_int
      integer(c_int), value :: number
      integer(c_int) :: status
    end function c_raise
  end interface
  integer(c_int), parameter :: sigusr1 = 10  ! on Linux, but for a few processors
  integer, parameter :: told_at = 3
  character(len=*), parameter :: text = 'placement: inline' // new_line('a') // &
      'output: {existing: replace}' // new_line('a') // &
      'meshes: {grid: {type: uniform, size: [$n]}}' // new_line('a') // &
      'variables: {t: {mesh: grid}}' // new_line('a') // &
      'ending: {signals: [USR1], margin: 1 h}'
  type(sidestream_session) :: session
  integer :: code, rank, ranks, step, last
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call sidestream_open_text(MPI_COMM_WORLD, text, session)
  call sidestream_set_int(session, 'n', int(ranks, int64))
  call sidestream_set_block(session, 'grid', rank, [rank], [rank + 1])
  call check(.not. sidestream_should_end(session), 'it should not end before the start')
  call sidestream_start(session)
  last = -1
  do step = 0, 9
    call sidestream_publish(session, 't', rank, [real(step, real64)])
    if (rank == 0 .and. step == told_at) call check(c_raise(sigusr1) == 0, 'the signal is raised')
    call sidestream_end_iteration(session, int(step, int64), real(step, real64))
    if (sidestream_should_end(session)) then
      last = step
      exit
    end if
  end do
  call check(last == told_at, 'all ranks end where one was told')
  call sidestream_close(session)
  call end_checks()
  call MPI_Finalize(code)
end program ending
