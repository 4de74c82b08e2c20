"""Pages of the documentation that are written from the code: the command line, the Python API, the tables read."""
