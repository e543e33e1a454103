"""Kernels: what carries out an op on a kind of device."""
