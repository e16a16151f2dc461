"""What each path of the HTTP interface answers: one file for each resource."""
