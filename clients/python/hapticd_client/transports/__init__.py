"""What carries a session: a blocking socket, asyncio, or memory that the service shares on its own machine."""
