"""How the 1.x namespace is put together out of the released 2.21 package."""
