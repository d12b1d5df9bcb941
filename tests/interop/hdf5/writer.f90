! The fields of writer.c by HDF5's Fortran interface, from one process: a file for each step.
program writer
  use hdf5
  use iso_fortran_env, only: real64
  implicit none
  integer, parameter :: nx = 12, ny = 5, nz = 6
  real(real64) :: temperature(0:nx + 1, 0:ny + 1, 0:nz + 1), velocity(3, nx, ny, nz), time
  integer(hid_t) :: file
  integer :: step, error, i, j, k, c
  character(len=12) :: name

  call h5open_f(error)
  do step = 0, 2
    temperature = -1e30_real64
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          do c = 1, 3
            velocity(c, i, j, k) = value(i - 1, j - 1, k - 1, c - 1)
          end do
          temperature(i, j, k) = velocity(1, i, j, k)
        end do
      end do
    end do
    time = 0.25_real64*step
    write (name, '(a,i4.4,a)') 'plot_', 10*step, '.h5'
    call h5fcreate_f(name, h5f_acc_trunc_f, file, error)
    call write_time()
    call write_temperature()
    call write_velocity()
    call h5fclose_f(file, error)
  end do
  call h5close_f(error)

contains

  real(real64) function value(i, j, k, c)
    integer, intent(in) :: i, j, k, c
    value = 0.5_real64*i - 0.25_real64*j + 0.125_real64*k + 10*step + 100*c + 0.0625_real64*i*j
  end function value

  subroutine write_time()
    integer(hid_t) :: space, set
    integer(hsize_t) :: one(1) = 1
    call h5screate_f(h5s_scalar_f, space, error)
    call h5dcreate_f(file, 'time', h5t_native_double, space, set, error)
    call h5dwrite_f(set, h5t_native_double, time, one, error)
    call h5dclose_f(set, error)
    call h5sclose_f(space, error)
  end subroutine write_time

  ! From an array with ghosts.
  subroutine write_temperature()
    integer(hid_t) :: space, memory, set
    integer(hsize_t) :: inner(3) = [nx, ny, nz], all(3) = [nx + 2, ny + 2, nz + 2], start(3) = 1
    call h5screate_simple_f(3, inner, space, error)
    call h5screate_simple_f(3, all, memory, error)
    call h5sselect_hyperslab_f(memory, h5s_select_set_f, start, inner, error)
    call h5dcreate_f(file, 'temperature', h5t_native_double, space, set, error)
    call h5dwrite_f(set, h5t_native_double, temperature, all, error, memory, space)
    call h5dclose_f(set, error)
    call h5sclose_f(memory, error)
    call h5sclose_f(space, error)
  end subroutine write_temperature

  subroutine write_velocity()
    integer(hid_t) :: space, set
    integer(hsize_t) :: size(4) = [3, nx, ny, nz]
    call h5screate_simple_f(4, size, space, error)
    call h5dcreate_f(file, 'velocity', h5t_native_double, space, set, error)
    call h5dwrite_f(set, h5t_native_double, velocity, size, error)
    call h5dclose_f(set, error)
    call h5sclose_f(space, error)
  end subroutine write_velocity
end program writer
