! Measures publishing from Fortran and from C in turn, in one session with one dedicated core.
!
!     mpirun -n 2 build/release/benchmarks/benchmark_publish_fortran
!
! Rank 0 is the client, rank 1 the server; pin them to two cores. Before each turn the array is written, and 16 MiB of
! other memory, as a simulation would do. Medians; the ratios come last.
module publish_both
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use sidestream
  use sidestream_base, only: handle_of ! of the module's own parts, for C
  implicit none
  interface
    function publish_microseconds(session, variable, block, data) bind(C) result(microseconds)
      import :: c_ptr, c_char, c_int64_t, c_double
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      real(c_double) :: microseconds
    end function publish_microseconds
  end interface
  character(len=*), parameter :: line = new_line('a')

contains

  subroutine run(cells)
    integer, intent(in) :: cells
    type(sidestream_session) :: session
    call sidestream_open_text(MPI_COMM_WORLD, 'placement: {mode: cores, per_node: 1, buffer: 512 MiB}' // line // &
      'meshes: {line: {type: uniform, size: [$cells]}}' // line // &
      'variables: {a: {mesh: line}, b: {mesh: line}}' // line // 'output: {timings: false, existing: replace}', session)
    if (sidestream_is_server(session)) then
      call sidestream_serve(session)
    else
      call measure(session, cells)
    end if
    call sidestream_close(session)
  end subroutine run

  subroutine measure(session, cells)
    type(sidestream_session), intent(inout) :: session
    integer, intent(in) :: cells
    real(real64), allocatable, target :: here(:), there(:)
    real(real64), allocatable :: others(:)
    real(real64) :: fortran(100), c(100)
    integer :: step, steps
    allocate (here(cells), there(cells), others(2097152), source=0.0_real64)
    call sidestream_set_int(session, 'cells', cells)
    call sidestream_set_block(session, 'line', 0, [0], [cells])
    call sidestream_start(session)
    steps = merge(20, 100, cells > 100000)
    do step = 1, steps
      if (modulo(step, 2) == 0) c(step) = from_c()
      fortran(step) = from_fortran()
      if (modulo(step, 2) == 1) c(step) = from_c()
      call sidestream_end_iteration(session, step, 0.0_real64)
    end do
    call report(cells * 8, median(fortran(3:steps)), median(c(3:steps)))

  contains

    subroutine write_all()
      here = step
      there = step
      others = others + 1
    end subroutine write_all

    function from_fortran() result(microseconds)
      real(real64) :: microseconds
      integer(int64) :: start, finish, rate
      call write_all()
      call system_clock(start, rate)
      call sidestream_publish(session, 'a', 0, here)
      call system_clock(finish)
      microseconds = real(finish - start, real64) / real(rate, real64) * 1e6_real64
    end function from_fortran

    function from_c() result(microseconds)
      real(real64) :: microseconds
      call write_all()
      microseconds = publish_microseconds(handle_of(session), 'b' // c_null_char, 0_c_int64_t, c_loc(there))
    end function from_c
  end subroutine measure

  subroutine report(bytes, fortran, c)
    integer, intent(in) :: bytes
    real(real64), intent(in) :: fortran, c
    print '(i0, a, f0.2, a, f0.2, a, f0.3, a, f0.2, a)', bytes, ' bytes: ', fortran, ' us from Fortran, ', c, &
      ' us from C; ratio ', fortran / c, ', beyond 1.05 x C: ', fortran - 1.05_real64 * c, ' us (wanted: at most 2)'
  end subroutine report

  function median(times) result(middle)
    real(real64), intent(in) :: times(:)
    real(real64) :: middle
    integer :: n
    do n = 1, size(times)
      middle = times(n)
      if (2 * count(times < middle) <= size(times) .and. 2 * count(times <= middle) >= size(times)) return
    end do
  end function median
end module publish_both

program publish_fortran
  use mpi
  use publish_both
  implicit none
  integer, parameter :: sizes(2) = [128, 8388608]
  integer :: code, n
  call MPI_Init(code)
  do n = 1, size(sizes)
    call run(sizes(n))
  end do
  call MPI_Finalize(code)
end program publish_fortran
