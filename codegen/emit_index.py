"""Emit the index page of the published schemas: one page that loads nothing from elsewhere."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from codegen.emit_docs import EXAMPLES
from codegen.emit_schema import CANONICAL, WIRE, canonical_bundle, version_folder, wire_bundle
from codegen.metamodel import Json, Model, read_model
from codegen.output import BUNDLE, MARK, ROOT
from codegen.routes import Route, read_routes

_STYLE = (
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }"
    " code { font-size: .9em } td, th { text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0 }"
)
_CODE = re.compile(r"`([^`]+)`")


def targets() -> dict[Path, str]:
    """Return the page by path."""
    return {BUNDLE / "index.html": "\n".join(_page(canonical_bundle(), wire_bundle(), version_folder().name)) + "\n"}


def _page(canonical: Json, wire: Json, version: str) -> Iterator[str]:
    model = read_model(wire)
    yield "<!doctype html>"
    yield f"<!-- {MARK} from schema/; do not edit. -->"
    yield '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    yield f"<title>Schemas of pond</title><style>{_STYLE}</style></head><body>"
    yield "<h1>Schemas of pond</h1>"
    yield "<p>Within a version the schemas only grow: nothing that is published here is removed or retyped.</p>"
    yield f"<h2>{version}</h2>"
    yield "<table>"
    for path, schema in ((CANONICAL, canonical), (WIRE, wire)):
        yield _row(_link(f"{version}/{path.name}"), f"<code>{schema['$id']}</code>", _prose(schema["description"]))
    yield _row(_link(f"{version}/openapi.json"), "OpenAPI 3.1", "Every route with its request and response.")
    yield _row(_link(f"{version}/pond.d.ts"), "TypeScript", "A declaration of each type.")
    yield "</table>"
    yield "<h2>Routes</h2><table>"
    yield from map(_route, read_routes(model).routes)
    yield "</table>"
    yield "<h2>Types</h2><table>"
    yield from _types(model, version)
    yield "</table></body></html>"


def _route(route: Route) -> str:
    types = " → ".join(map(_type_link, filter(None, (route.request, route.response))))
    return _row(f"<code>{route.method} {escape(route.path)}</code>", types, _prose(route.summary))


def _types(model: Model, version: str) -> Iterator[str]:
    for each in model.definitions:
        files = sorted(file.name for file in (ROOT / EXAMPLES / each.name).glob("*.json"))
        right = [name for name in files if not name.startswith("bad-")]
        links = ", ".join(_link(f"{version}/examples/{each.name}/{name}", Path(name).stem) for name in right)
        yield _row(
            f'<a id="{each.name}"></a><code>{each.name}</code>', f"{_prose(each.description)} Examples: {links}."
        )


def _type_link(name: str) -> str:
    return f'<a href="#{name}">{name}</a>'


def _link(target: str, text: str = "") -> str:
    return f'<a href="{target}">{text or target}</a>'


def _prose(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def _row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
