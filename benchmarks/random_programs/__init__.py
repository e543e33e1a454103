"""``python -m benchmarks.random_programs``: random programs give PyTorch's values and gradients.

A program is made from a seed: leaves, then 5 to 40 steps that share inputs, take views, write in
place and broadcast. The same text runs on minipaddle and on PyTorch in float64, in an environment
that has both; every value and every gradient must agree to 1e-10. ``--record FILE`` writes
PyTorch's numbers, with which tests/benchmarks/test_random_programs.py holds minipaddle to a few of
these programs where no PyTorch is installed.
"""
