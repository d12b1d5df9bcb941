!> Declares meshes of every kind by calls, and publishes on them, on one rank. test_fields.py reads the results.
!>
!> meshes FILE
program meshes
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  use mpi
  use checks
  use sidestream
  implicit none
  type(sidestream_session) :: session
  integer :: code
  call MPI_Init(code)
  call sidestream_open(MPI_COMM_WORLD, argument(1), session)
  call sidestream_set_real(session, 'h', 0.5)
  call sidestream_set_real(session, 'unused', 0.5_real64)
  call boxes()
  call lists()
  call blocks()
  call sidestream_start(session, code)
  call check_error(session, code, SIDESTREAM_OK, '')
  call publish()
  call sidestream_signal(session, 'now')
  call sidestream_end_iteration(session, 3_int64, 1.5)
  call sidestream_set_block_on_level(session, 'rect', 0, 0, [0, 0], [1, 3], code)
  call check_error(session, code, SIDESTREAM_ERROR_USAGE, 'fixed')
  call sidestream_remove_block(session, 'cloud', 7)
  call sidestream_close(session, ierr=code)
  call check_error(session, code, SIDESTREAM_OK, '')
  call end_checks()
  call MPI_Finalize(code)

contains

  subroutine boxes()
    call sidestream_add_rectilinear_mesh(session, 'rect', [0.0_real64, 1.0_real64, 3.0_real64], &
                                         [0.0_real64, 2.0_real64, 5.0_real64, 9.0_real64])
    call sidestream_set_fixed(session, 'rect')
    call sidestream_add_variable(session, 'r', 'rect', SIDESTREAM_FLOAT64)
    call sidestream_add_curvilinear_mesh(session, 'curved', [2, 1], 'places')
    call sidestream_add_variable(session, 'places', 'curved', SIDESTREAM_FLOAT64, components=2)
    call sidestream_add_variable(session, 'c', 'curved', SIDESTREAM_INT32)
    call sidestream_add_uniform_mesh(session, 'levels', [4_int64, 4_int64, 4_int64], &
                                     origin=[1.0_real64, 2.0_real64, 3.0_real64])
    call sidestream_set_periodic(session, 'levels', [.true., .false.])
    call sidestream_set_refinement(session, 'levels', reshape([2, 2, 1], [3, 1]))
    call sidestream_add_variable(session, 'l', 'levels', SIDESTREAM_INT32)
  end subroutine boxes

  subroutine lists()
    call sidestream_add_unstructured_mesh(session, 'triangle', 2, 'corners', 'links', 'ends', 'kinds')
    call sidestream_add_variable(session, 'corners', 'triangle', SIDESTREAM_FLOAT64, components=2)
    call sidestream_add_variable(session, 'links', 'triangle', SIDESTREAM_INT32)
    call sidestream_add_variable(session, 'ends', 'triangle', SIDESTREAM_INT32)
    call sidestream_add_variable(session, 'kinds', 'triangle', SIDESTREAM_UINT8)
    call sidestream_add_variable(session, 'ids', 'triangle', SIDESTREAM_INT64)
    call sidestream_set_mesh_array(session, 'triangle', SIDESTREAM_POINT_IDS, 'ids')
    call sidestream_add_variable(session, 'u', 'triangle', SIDESTREAM_FLOAT64)
    call sidestream_add_points_mesh(session, 'cloud', 3, 'xyz')
    call sidestream_add_variable(session, 'xyz', 'cloud', SIDESTREAM_FLOAT64, components=3)
    call sidestream_add_octree_mesh(session, 'tree', [2, 1], 'split', spacing=[2.0_real64, 1.0_real64])
    call sidestream_add_variable(session, 'split', 'tree', SIDESTREAM_UINT8)
    call sidestream_add_variable(session, 'o', 'tree', SIDESTREAM_FLOAT64)
  end subroutine lists

  subroutine blocks()
    real(real64), parameter :: bounds(6) = [0, 0, 0, 3, 3, 0]
    call sidestream_set_block(session, 'rect', 0, [0, 0], [2, 3])
    call sidestream_set_block(session, 'curved', 0, [0, 0], [2, 1])
    call sidestream_set_block_bounds(session, 'curved', 0, bounds)
    call sidestream_set_block(session, 'levels', 0, [0, 0, 0], [4, 4, 4])
    call sidestream_set_block_on_level(session, 'levels', 1_int64, 1, [0, 0, 0], [2, 2, 1])
    call sidestream_set_block_list(session, 'triangle', 0, 3, cells=1, corners=3, bounds=bounds)
    call sidestream_set_block_list(session, 'cloud', 7, 2_int64)
    call sidestream_set_block_list(session, 'tree', 0_int64, 0_int64, cells=2_int64)
  end subroutine blocks

  subroutine publish()
    real(real64) :: r(2, 3), places(2, 3, 2)
    integer :: l(4, 4, 4)
    r = reshape([1.0_real64, 2.0_real64, 3.0_real64, 4.0_real64, 5.0_real64, 6.0_real64], [2, 3])
    places = 1
    l = 5
    call sidestream_publish(session, 'r', 0, r)
    call sidestream_publish(session, 'places', 0, places, component_axis=1)
    call sidestream_publish(session, 'c', 0, reshape([8, 9], [2, 1]))
    call sidestream_publish(session, 'l', 0, l)
    call sidestream_publish(session, 'l', 1, l(:2, :2, :1))
    call sidestream_publish(session, 'corners', 0, r(:, :), component_axis=1)
    call sidestream_publish(session, 'links', 0, [0, 1, 2])
    call sidestream_publish(session, 'ends', 0, [3])
    call sidestream_publish(session, 'kinds', 0, [5_int8])
    call sidestream_publish(session, 'ids', 0, [10_int64, 11_int64, 12_int64])
    call sidestream_publish(session, 'u', 0, [7.0_real64])
    call sidestream_publish(session, 'xyz', 7, reshape(r, [2, 3]))
    call sidestream_publish(session, 'split', 0, [0_int8, 0_int8])
    call sidestream_publish(session, 'o', 0, [1.0_real64, 2.0_real64])
  end subroutine publish
end program meshes
