"""One module for each group of commands; `transport.cli.table` says which command is where."""
