"""Schemas of the HTTP interface, for `/openapi.json` and docs/http.md."""
