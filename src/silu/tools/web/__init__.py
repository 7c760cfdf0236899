"""The web: addresses that may be reached, pages, search engines."""
