"""The HTTP interface: one route table and one file per resource."""
