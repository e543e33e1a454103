"""One file of workloads for each framework, with functions of the same names.

A workload is a function that prepares something and returns ``run(n)``: do it n times and return
the seconds that took. Nothing here imports more than its own framework and NumPy, as peers run in
interpreters that have nothing else.
"""
