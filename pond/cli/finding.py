"""Ids that are typed: a running server knows what they mean, or else the lake is opened."""

from typing import TYPE_CHECKING

from pond.operations.envelope import PROTOCOL
from pond.operations.finding import meant, session_meant
from pond.operations.service import Service
from pond.transports.local import ask

if TYPE_CHECKING:
    from pond.config.settings import Settings


def found(settings: "Settings", service: Service, text: str, session: str | None = None) -> tuple[str, str | None]:
    """Return the session that is meant, and the message, if one is; raise UsageError for none or several."""
    asked = {"protocol_version": PROTOCOL, "text": text, "session": session}
    if (there := ask(settings, "/local/find", asked)) is not None:
        return there["session_id"], there["message_id"]
    here = meant(service, text, session)
    return here.session_id, here.message_id


def session_found(settings: "Settings", service: Service, text: str) -> str:
    """Return the session that is meant; raise UsageError for none or several."""
    asked = {"protocol_version": PROTOCOL, "text": text, "only": "session"}
    if (there := ask(settings, "/local/find", asked)) is not None:
        return str(there["session_id"])
    return session_meant(service, text)
