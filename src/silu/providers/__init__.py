"""Vendors and families of models, and how a call to them is made."""
