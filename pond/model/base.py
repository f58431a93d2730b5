"""What the generated types have in common."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Refuse to coerce, and print the names that the schema uses.

    A number is no string and a string is no number: a coerced value would be one the source never held
    (model-no-synthesis). Two marks are named `as` and `with`, which Python cannot spell; printing goes by the alias.
    """

    model_config = ConfigDict(strict=True, serialize_by_alias=True)
