!> Messages about arrays that do not match the declaration, and errors that nobody asks for.
program mistakes
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use mpi
  use checks
  use sidestream
  implicit none
  character(len=*), parameter :: line = new_line('a')
  character(len=*), parameter :: text = 'placement: inline' // line // &
    'output: {directory: mistakes-results, existing: replace, timings: false}' // line // &
    'meshes: {box: {type: uniform, size: [4, 3, 2]}, line: {type: uniform, size: [4]}}' // line // &
    'variables: {t: {mesh: box}, v: {mesh: box, components: 2}, r: {mesh: box, order: row}, l: {mesh: line},' // line // &
    '  once: {mesh: line, type: uint8, time_varying: false}}' // line // &
    'steering: {stop: {default: 3}, huge: {default: 5000000000}, dt: {type: real, default: 0.25}}'
  type(sidestream_session) :: session
  integer :: code
  call MPI_Init(code)
  call arrays()
  call flat_arrays()
  call memory()
  call kept()
  call open_fails()
  call handles()
  call steered()
  call last_words()
  call end_checks()
  call MPI_Finalize(code)

contains

  subroutine open()
    call sidestream_open_text(MPI_COMM_WORLD, text, session, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_set_block(session, 'box', 0, [0, 0, 0], [4, 3, 2])
    call sidestream_set_block(session, 'line', 0, [0_int64], [4_int64])
    call sidestream_start(session, code)
    call check_error(session, code, SIDESTREAM_OK, '')
  end subroutine open

  subroutine close()
    call sidestream_close(session, ierr=code)
    call check_error(session, code, SIDESTREAM_OK, '')
  end subroutine close

  subroutine arrays()
    real(real64) :: a(4, 3, 2), d4(4, 3, 2, 2), d5(4, 3, 2, 1, 1), d6(1, 1, 1, 1, 1, 1), d7(1, 1, 1, 1, 1, 1, 1)
    a = 1
    d4 = 1
    d5 = 1
    d6 = 1
    d7 = 1
    call open()
    call sidestream_publish(session, 't', 0, 1.0_real64, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'rank 0, expected rank 3')
    call sidestream_publish(session, 't', 0, a(:, 1, 1), ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'rank 1, expected rank 3')
    call sidestream_publish(session, 't', 0, d4, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, '4 x 3 x 2 x 2, expected 4 x 3 x 2 x 1')
    call sidestream_publish(session, 't', 0, d5, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'rank 5')
    call sidestream_publish(session, 't', 0_int64, d6, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'rank 6')
    call sidestream_publish(session, 't', 0, d7, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'rank 7')
    call sidestream_publish(session, 't', 0, a(:, :, :1), ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'is 4 x 3 x 1, expected 4 x 3 x 2')
    call sidestream_publish(session, 't', 0, a(4:1, :, :), ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'is 0 x 3 x 2')
    call sidestream_publish(session, 't', 0, real(a, real32), ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'type float32, expected float64')
    call sidestream_publish(session, 'v', 0, a, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'one for the 2 components')
    call sidestream_publish(session, 'v', 0, d4, component_axis=1, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'expected 2 x 4 x 3 x 2')
    call sidestream_publish(session, 'v', 0, d4, component_axis=0, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'of its axes')
    call sidestream_publish(session, 'T ', 0, a, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, "variable 'T' is not declared")
    call sidestream_publish(session, 't', 3, a, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'block 3')
    call sidestream_set_block(session, 'box', 1, [0, 0, 0, 0], [1, 1, 1, 1], code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'lo has 4 entries')
    call sidestream_end_iteration(session, 0, 0.0, code)
    call check_error(session, code, SIDESTREAM_REFUSED, 'dropped')
    call close()
  end subroutine arrays

  !> Checks type and number of values of arrays of any rank, which are published as they lie in memory.
  subroutine flat_arrays()
    real(real64), target :: a(24), wide(48), shaped(2, 12)
    integer(int64) :: of
    a = 1
    wide = 1
    shaped = 1
    call open()
    call sidestream_publish_values(session, 't', 0, a(:23), code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'has 23 values, expected 24')
    call sidestream_publish_values(session, 't', 0_int64, wide(::2), code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'has gaps between its elements')
    call sidestream_publish_values(session, 't', 0, real(a, real32), code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'type float32, expected float64')
    call sidestream_get_handle(session, 't', 0, of, code)
    call sidestream_publish_handle_values(session, of, SIDESTREAM_FLOAT64, c_loc(a), 25_int64, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'has 25 values, expected 24')
    call sidestream_end_iteration(session, 0, 0.0, code)
    call check_error(session, code, SIDESTREAM_REFUSED, 'dropped')
    call sidestream_publish_values(session, 't', 0, shaped, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_publish_values(session, 'v', 0, wide)
    call sidestream_end_iteration(session, 1, 1.0, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_publish_handle_values(session, of, SIDESTREAM_FLOAT64, c_loc(a), 24_int64, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_end_iteration(session, 2, 2.0, code)
    call close()
  end subroutine flat_arrays

  subroutine memory()
    real(real64), pointer :: a(:, :, :), flat(:, :)
    integer, pointer :: wrong(:, :, :)
    call open()
    call sidestream_alloc(session, 'r', 0, a, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'row order')
    call check(.not. associated(a), 'no memory in row order')
    call sidestream_alloc(session, 't', 0, flat, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'rank 2, expected rank 3')
    call check(.not. associated(flat), 'no memory of rank 2')
    call sidestream_alloc(session, 't', 0, wrong, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'type int32')
    call sidestream_end_iteration(session, 0, 0.0, code)
    call check_error(session, code, SIDESTREAM_REFUSED, 'dropped')
    call sidestream_alloc(session, 't', 0, a, code)
    call check(code == SIDESTREAM_OK .and. associated(a), 'memory')
    call sidestream_alloc(session, 't', 0, a, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'was not cleared')
    call sidestream_clear(session, 't', 0_int64, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_end_iteration(session, 1, 1.0, code)
    call close()
  end subroutine memory

  !> Without ierr, the first error is kept for the next call that asks. A refusal is not.
  subroutine kept()
    real(real64) :: a(4, 3, 2)
    a = 1
    call open()
    call sidestream_publish(session, 't', 0, a(:, :, 1))
    call sidestream_publish(session, 't', 0, a(1, 1, :))
    call sidestream_end_iteration(session, 0, 0.0)
    call sidestream_publish(session, 't', 0, a, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'has rank 2')
    call sidestream_end_iteration(session, 1, 1.0_real64, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    ! One error is kept, and the call after it has another one. The kept one is told first.
    call sidestream_commit(session, 't', 0)
    call sidestream_clear(session, 'v', 0, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'commit')
    call sidestream_clear(session, 'once', 0, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, "clear: block 0 of 'v'")
    call sidestream_end_iteration(session, 2, 2.0)
    call sidestream_commit(session, 't', 0)
    call sidestream_close(session, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, "clear: block 0 of 'once'")
  end subroutine kept

  !> The program goes on without a session.
  subroutine open_fails()
    real(real64) :: a(4, 3, 2)
    integer :: comm
    a = 1
    call sidestream_open_text(MPI_COMM_WORLD, 'placement: nowhere', session)
    call check(.not. sidestream_is_server(session), 'no server')
    call sidestream_get_comm(session, comm)
    call check(comm == MPI_COMM_WORLD, 'the communicator that open was given')
    call sidestream_publish(session, 't', 0, a)
    call sidestream_end_iteration(session, 0, 0.0)
    call sidestream_close(session, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_CONFIGURATION, 'nowhere')
    call sidestream_close(session, ierr=code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'none was opened, or it is closed')
  end subroutine open_fails

  subroutine handles()
    real(real64), target :: a(4, 3, 2), v(2, 4, 3, 2), l(4)
    integer(int8), target :: once(4)
    integer(int64) :: of(2)
    a = 1
    v = 1
    l = 1
    once = 1
    call open()
    call sidestream_get_handle(session, 't', 0, of(1))
    call sidestream_get_handle(session, 'once', 0_int64, of(2))
    call sidestream_publish_handles(session, of, [c_loc(a), c_loc(once)], code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_publish_address(session, 'v', 0, c_loc(v), code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_publish_strided(session, 'r', 0, c_loc(a), [1_int64, 4_int64, 12_int64, 1_int64], code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_publish_handle(session, of(1), c_loc(a), code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'published already')
    call sidestream_publish_handles(session, of, [c_loc(a)], code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'as many')
    call sidestream_remove_block(session, 'line', 0, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'published')
    call sidestream_signal(session, 'nothing', code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'nothing')
    call sidestream_end_iteration(session, 0, 0.0)
    call close()
  end subroutine handles

  subroutine steered()
    integer(int32) :: stop
    integer(int64) :: wide
    real(real32) :: single
    real(real64) :: dt
    call sidestream_open_text(MPI_COMM_WORLD, text, session, code)
    call sidestream_get_int(session, 'stop', stop, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'call start first')
    call sidestream_close(session, ierr=code)
    call open()
    call sidestream_get_int(session, 'stop', stop, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call sidestream_get_int(session, 'huge ', wide)
    call sidestream_get_real(session, 'dt', dt)
    call sidestream_get_real(session, 'dt', single, code)
    call check_error(session, code, SIDESTREAM_OK, '')
    call check(stop == 3 .and. wide == 5000000000_int64, 'integers')
    call check(abs(dt - 0.25_real64) <= 0 .and. abs(single - 0.25) <= 0, 'reals')
    call sidestream_get_int(session, 'huge', stop, code)
    call check(stop == huge(stop), 'the nearest that it can hold')
    call sidestream_get_int(session, 'dt', stop, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'get_real')
    call sidestream_get_real(session, 'dd', dt, code)
    call check_error(session, code, SIDESTREAM_ERROR_USAGE, "did you mean 'dt'?")
    call sidestream_end_iteration(session, 0, 0.0)
    call close()
  end subroutine steered

  !> An error that nobody asks for is printed; the test looks for it.
  subroutine last_words()
    real(real64) :: a(4, 3)
    a = 1
    call open()
    call sidestream_publish(session, 't', 0, a)
    call sidestream_end_iteration(session, 0, 0.0)
    call sidestream_close(session)
  end subroutine last_words
end program mistakes
