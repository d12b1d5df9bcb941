!> Interfaces of the functions of sidestream.h, except those for inputs, which are in sidestream_functions.f90. Internal
!> to the module `sidestream`, which programs use.
module sidestream_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  !> sidestream_account
  type, bind(C) :: c_account
    integer(c_size_t) :: struct_size
    integer(c_int64_t) :: iterations, delivered, refused, failed, unknown, absent_blocks, bytes_published, dropped
    integer(c_int64_t) :: spilled, bytes_spilled
  end type c_account

  !> sidestream_block
  type, bind(C) :: c_block
    integer(c_size_t) :: struct_size
    integer(c_int64_t) :: block
    integer(c_int32_t) :: level, client
    integer(c_int) :: type
    integer(c_int32_t) :: components
    integer(c_int64_t) :: owned_lo(3), owned_hi(3)
    integer(c_int32_t) :: owned_is_box
    integer(c_int64_t) :: lo(3), hi(3), strides(4)
    type(c_ptr) :: data
  end type c_block

  interface
    ! ---- shims.c: communicators and tables of functions ---------------------------------------------------------

    function c_open(comm, given, is_text, session, rank) bind(C, name='sidestream_fortran_open') result(code)
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: comm, is_text
      character(kind=c_char), intent(in) :: given(*)
      type(c_ptr), intent(out) :: session
      integer(c_int), intent(out) :: rank
      integer(c_int) :: code
    end function c_open

    function c_comm(session) bind(C, name='sidestream_fortran_comm') result(comm)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int) :: comm
    end function c_comm

    function c_register(session, name, partial_bytes, has_combine, has_merge, user) &
        bind(C, name='sidestream_fortran_register') result(code)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: session, user
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: partial_bytes
      integer(c_int), value :: has_combine, has_merge
      integer(c_int) :: code
    end function c_register

    ! ---- opening and closing -----------------------------------------------------------------------------------

    function c_is_server(session) bind(C, name='sidestream_is_server') result(answer)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int) :: answer
    end function c_is_server

    function c_should_end(session) bind(C, name='sidestream_should_end') result(answer)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int) :: answer
    end function c_should_end

    function c_serve(session) bind(C, name='sidestream_serve') result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int) :: code
    end function c_serve

    function c_close(session, account) bind(C, name='sidestream_close_with_account') result(code)
      import :: c_account, c_int, c_ptr
      type(c_ptr), intent(inout) :: session
      type(c_account), intent(inout) :: account
      integer(c_int) :: code
    end function c_close

    function c_account_so_far(session, account) bind(C, name='sidestream_account_so_far') result(code)
      import :: c_account, c_int, c_ptr
      type(c_ptr), value :: session
      type(c_account), intent(inout) :: account
      integer(c_int) :: code
    end function c_account_so_far

    function c_message(session) bind(C, name='sidestream_message') result(text)
      import :: c_ptr
      type(c_ptr), value :: session
      type(c_ptr) :: text
    end function c_message

    ! ---- declaring ---------------------------------------------------------------------------------------------

    function c_set_int(session, name, value) bind(C, name='sidestream_set_int') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
      integer(c_int) :: code
    end function c_set_int

    function c_set_real(session, name, value) bind(C, name='sidestream_set_real') result(code)
      import :: c_char, c_double, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: code
    end function c_set_real

    function c_add_uniform_mesh(session, name, dimensions, cells, origin, spacing) &
        bind(C, name='sidestream_add_uniform_mesh') result(code)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: cells(*)
      real(c_double), intent(in) :: origin(*), spacing(*)
      integer(c_int) :: code
    end function c_add_uniform_mesh

    function c_add_rectilinear_mesh(session, name, dimensions, cells, coordinates) &
        bind(C, name='sidestream_add_rectilinear_mesh') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: cells(*)
      type(c_ptr), intent(in) :: coordinates(*)
      integer(c_int) :: code
    end function c_add_rectilinear_mesh

    function c_add_curvilinear_mesh(session, name, dimensions, cells, coordinates) &
        bind(C, name='sidestream_add_curvilinear_mesh') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*), coordinates(*)
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: cells(*)
      integer(c_int) :: code
    end function c_add_curvilinear_mesh

    function c_add_unstructured_mesh(session, name, dimensions, coordinates, connectivity, offsets, types) &
        bind(C, name='sidestream_add_unstructured_mesh') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*), coordinates(*), connectivity(*), offsets(*), types(*)
      integer(c_int), value :: dimensions
      integer(c_int) :: code
    end function c_add_unstructured_mesh

    function c_add_points_mesh(session, name, dimensions, coordinates) &
        bind(C, name='sidestream_add_points_mesh') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*), coordinates(*)
      integer(c_int), value :: dimensions
      integer(c_int) :: code
    end function c_add_points_mesh

    function c_add_spectral_mesh(session, name, dimensions, continuous) &
        bind(C, name='sidestream_add_spectral_mesh') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: dimensions, continuous
      integer(c_int) :: code
    end function c_add_spectral_mesh

    function c_add_octree_mesh(session, name, dimensions, roots, origin, spacing, refined) &
        bind(C, name='sidestream_add_octree_mesh') result(code)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*), refined(*)
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: roots(*)
      real(c_double), intent(in) :: origin(*), spacing(*)
      integer(c_int) :: code
    end function c_add_octree_mesh

    function c_set_mesh_array(session, mesh, role, variable) bind(C, name='sidestream_set_mesh_array') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*), variable(*)
      integer(c_int), value :: role
      integer(c_int) :: code
    end function c_set_mesh_array

    function c_set_periodic(session, mesh, periodic) bind(C, name='sidestream_set_periodic') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int), intent(in) :: periodic(3)
      integer(c_int) :: code
    end function c_set_periodic

    function c_set_refinement(session, mesh, steps, ratios) bind(C, name='sidestream_set_refinement') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int), value :: steps
      integer(c_int64_t), intent(in) :: ratios(*)
      integer(c_int) :: code
    end function c_set_refinement

    function c_set_fixed(session, mesh) bind(C, name='sidestream_set_fixed') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int) :: code
    end function c_set_fixed

    function c_set_owned_points(session, mesh) bind(C, name='sidestream_set_owned_points') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: mesh(*)
      integer(c_int) :: code
    end function c_set_owned_points

    function c_add_variable(session, name, mesh, type, centering, components, order) &
        bind(C, name='sidestream_add_variable') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*), mesh(*)
      integer(c_int), value :: type, centering, components, order
      integer(c_int) :: code
    end function c_add_variable

    function c_set_variable_attribute(session, variable, attribute, value) &
        bind(C, name='sidestream_set_variable_attribute') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: variable(*), attribute(*), value(*)
      integer(c_int) :: code
    end function c_set_variable_attribute

    function c_start(session) bind(C, name='sidestream_start') result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int) :: code
    end function c_start

    ! ---- publishing --------------------------------------------------------------------------------------------

    function c_publish(session, variable, block, data) bind(C, name='sidestream_publish') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int) :: code
    end function c_publish

    function c_publish_values(session, variable, block, type, data, count) &
        bind(C, name='sidestream_publish_values') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block, count
      integer(c_int), value :: type
      integer(c_int) :: code
    end function c_publish_values

    function c_publish_handle_values(session, handle, type, data, count) &
        bind(C, name='sidestream_publish_handle_values') result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, data
      integer(c_int64_t), value :: handle, count
      integer(c_int), value :: type
      integer(c_int) :: code
    end function c_publish_handle_values

    function c_publish_strided(session, variable, block, data, strides) &
        bind(C, name='sidestream_publish_strided') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int64_t), intent(in) :: strides(4)
      integer(c_int) :: code
    end function c_publish_strided

    function c_publish_array(session, variable, block, type, data, rank, extents, strides, component_axis) &
        bind(C, name='sidestream_publish_array') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, data
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int), value :: type, rank, component_axis
      integer(c_int64_t), intent(in) :: extents(*), strides(*)
      integer(c_int) :: code
    end function c_publish_array

    function c_publish_component_arrays(session, variable, block, type, count, components, rank, extents, strides) &
        bind(C, name='sidestream_publish_component_arrays') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int), value :: type, count, rank
      type(c_ptr), intent(in) :: components(*)
      integer(c_int64_t), intent(in) :: extents(*), strides(*)
      integer(c_int) :: code
    end function c_publish_component_arrays

    function c_get_handle(session, variable, block, handle) bind(C, name='sidestream_get_handle') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int64_t), intent(inout) :: handle
      integer(c_int) :: code
    end function c_get_handle

    function c_publish_handle(session, handle, data) bind(C, name='sidestream_publish_handle') result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, data
      integer(c_int64_t), value :: handle
      integer(c_int) :: code
    end function c_publish_handle

    function c_publish_handles(session, count, handles, data) bind(C, name='sidestream_publish_handles') result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int), value :: count
      integer(c_int64_t), intent(in) :: handles(*)
      type(c_ptr), intent(in) :: data(*)
      integer(c_int) :: code
    end function c_publish_handles

    function c_alloc_array(session, variable, block, type, rank, array) &
        bind(C, name='sidestream_alloc_array') result(code)
      import :: c_block, c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int), value :: type, rank
      type(c_block), intent(inout) :: array
      integer(c_int) :: code
    end function c_alloc_array

    function c_commit(session, variable, block) bind(C, name='sidestream_commit') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int) :: code
    end function c_commit

    function c_clear(session, variable, block) bind(C, name='sidestream_clear') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: block
      integer(c_int) :: code
    end function c_clear

    function c_signal(session, event) bind(C, name='sidestream_signal') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: event(*)
      integer(c_int) :: code
    end function c_signal

    function c_signal_values(session, event, scope, kind, values, count) bind(C, name='sidestream_signal_values') &
        result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session, values
      character(kind=c_char), intent(in) :: event(*)
      integer(c_int), value :: scope, kind
      integer(c_int64_t), value :: count
      integer(c_int) :: code
    end function c_signal_values

    function c_signal_barrier(session, event) bind(C, name='sidestream_signal_barrier') result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: event(*)
      integer(c_int) :: code
    end function c_signal_barrier

    function c_get_int(session, name, value) bind(C, name='sidestream_get_int') result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: value
      integer(c_int) :: code
    end function c_get_int

    function c_get_real(session, name, value) bind(C, name='sidestream_get_real') result(code)
      import :: c_char, c_double, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(inout) :: value
      integer(c_int) :: code
    end function c_get_real

    function c_end_iteration(session, cycle, time) bind(C, name='sidestream_end_iteration') result(code)
      import :: c_double, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int64_t), value :: cycle
      real(c_double), value :: time
      integer(c_int) :: code
    end function c_end_iteration

    function c_strlen(text) bind(C, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface
end module sidestream_c
