"""What the DataLoader is made of: data sets, samplers, collating, worker processes."""
