"""The house, wired: settings, store, vendors, turns and live fan-out, as plain services.

`App.open()` takes a data folder and gives the services that the gateway and the command call.
Every method that changes something takes the command as it came and does its work once for one
`client_id`. Errors a person can mend are `UserError`.
"""

from silu.app.wiring import App

__all__ = ["App"]
