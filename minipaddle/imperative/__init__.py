"""Eager execution: tensors, dispatch, autograd, and the Reducer."""
