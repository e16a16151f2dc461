"""Everything that relies on undocumented names or behaviour of Tornado; imports nothing else of ours."""
