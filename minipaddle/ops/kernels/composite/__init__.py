"""Kernels written with other ops' kernels: right on every device."""
