"""``python -m minipaddle.distributed.launch``: runs a program in several processes."""
