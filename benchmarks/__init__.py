"""Benchmarks of minipaddle against its peers; see benchmarks/README.md."""
