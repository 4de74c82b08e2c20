"""What writes SQLite: slices of reports, and runs kept in a database with what became of them."""
