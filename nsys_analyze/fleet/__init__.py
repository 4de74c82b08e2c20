"""Many reports at once: each a task of Dask, their stages one Parquet dataset, and what stands out of it."""
