"""Facts about the build that 1.15 kept in `platform.build_info`."""

is_cuda_build = False
is_rocm_build = False
