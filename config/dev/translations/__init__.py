"""The catalogs of translations: found in the source, kept in `locale/`, compiled. `make messages`.

For people who work on the program; nothing here runs on a server.
"""
