"""``python -m minipaddle.distributed.launch``: runs a script as every rank of a job."""
