"""Description of the session and the event channel as an AsyncAPI document, built from the tables that the channels read."""
