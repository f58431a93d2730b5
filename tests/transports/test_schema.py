"""The server keeps what its OpenAPI document says, for requests that nobody thought of; and every error is met."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from codegen.emit_schema import wire_bundle
from pond.diagnostics.diagnostic import Diagnostic, PondError
from pond.diagnostics.failures import REASONS, Failure
from pond.operations.failing import _BY_CODE, RequestError
from pond.transports.http.errors import error_response
from pond.transports.http.routes import OPERATIONS
from tests.cli.command import environment
from tests.operations import invented
from tests.size import SOAK, size
from tests.transports.server import Server, serving

_ERROR = Draft202012Validator({**wire_bundle(), "$ref": "#/$defs/ErrorResponse"})
EXAMPLES = size(300, 8)  # for each operation
PHASES = "examples,coverage,fuzzing" if SOAK else "examples,fuzzing"
# Not those that want 401 or 405: the codes are a closed set, and their statuses with them (decision 0035).
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,use_after_free"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("serving") / "lake") as running:
        running.ingest([invented.session("oak"), *invented.said("oak", "m1", "the lamp of the lighthouse", at=1)])
        yield running


# First the streams, which do not end: as long as nobody has made sessions, requests seldom find one.
@pytest.mark.parametrize("paths", [["--include-path", "/v1/events"], ["--exclude-path", "/v1/events"]])
def test_no_request_breaks_what_the_document_says(server: Server, paths: list[str], tmp_path: Path) -> None:
    words = [
        sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{server.port}/openapi.json",
        "--checks", CHECKS, "--max-examples", str(EXAMPLES), "--phases", PHASES,
        *paths, "--seed", "7", "--generation-database", "none", "--no-color",
        "--request-timeout", "60",
    ]  # fmt: skip
    done = subprocess.run(
        words, env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=540, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert server.get("/healthz").status == 200


@pytest.mark.parametrize("code", sorted(_BY_CODE))
def test_every_diagnostic_becomes_an_answer(code: str) -> None:
    _is_told(PondError(Diagnostic(code, "it happened")), *_BY_CODE[code])


@pytest.mark.parametrize("failure", Failure)
@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_failure_and_reason_becomes_an_answer(failure: Failure, reason: str) -> None:
    _is_told(RequestError(failure, reason, "it happened"), failure, reason)


def test_what_nobody_expected_becomes_an_answer_that_hides_it() -> None:
    response = error_response(KeyError("a secret"))
    assert response.status_code == 500
    assert b"secret" not in bytes(response.body)


def _is_told(error: PondError, failure: Failure, reason: str) -> None:
    response = error_response(error)
    body = json.loads(bytes(response.body))
    _ERROR.validate(body)
    assert response.status_code == failure.status
    assert (body["error"]["code"], body["error"]["details"]["reason"]) == (failure.code, reason)


def test_the_document_and_the_server_have_the_same_operations(server: Server) -> None:
    described = {
        (method.upper(), path)
        for path, methods in server.get("/openapi.json").json["paths"].items()
        for method in methods
    }
    offered = {(route.method, route.path) for route in OPERATIONS}
    assert offered <= described
    assert {path for _, path in described - offered} == {
        "/v1/events", "/v1/blobs/{sha256}", "/", "/docs", "/healthz", "/metrics", "/openapi.json",
    }  # fmt: skip
