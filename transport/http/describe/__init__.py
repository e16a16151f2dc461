"""What the routes take and answer, as data: JSON Schemas beside the routes, out of which `/openapi.json` and `docs/http.md` are made."""
