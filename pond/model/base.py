"""What the generated types have in common."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Refuse to coerce, and print the names that the schema uses.

    A number is not a string, and a string is not a number: a coerced value would be one that the source never held
    (model-no-synthesis). Two marks are named `as` and `with`, which are Python keywords, so printing uses the alias.
    """

    model_config = ConfigDict(strict=True, serialize_by_alias=True)
