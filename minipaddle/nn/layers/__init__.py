"""Layers, one module a family."""
