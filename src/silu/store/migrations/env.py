"""Run by Alembic: migrates over the connection and in the transaction that it is given."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transactional_ddl=False)
context.run_migrations()
