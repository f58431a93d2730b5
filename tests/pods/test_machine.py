"""Any sequence of changes by two writers that die when they like gives what a simple model gives."""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import permutations
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pond.pods.faults import NoPod
from pond.pods.store import PodStore
from tests.pods import dying
from tests.size import size

NAMES = st.sampled_from(["gardener", "miller"])
OTHERS = st.sampled_from(["a", "b", "c"])
Change = dict[str, Any]
Model = dict[str, Any]


def _child(name: str, target: str) -> dict[str, Any]:
    return {"name": name, "scopes": [{"target": target, "permission": "write", "recursive": True}]}


CHILDREN = st.builds(_child, OTHERS, st.sampled_from(["/x", "/y"]))
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(lambda c: {"op": "add_child", "child": c}, CHILDREN),
    st.builds(lambda c: {"op": "reclaim", "children": c}, st.lists(OTHERS, min_size=1)),
    st.builds(lambda s, g: {"op": "set_active", "session_id": s, "segment_id": g}, OTHERS, OTHERS),
    st.builds(lambda s: {"op": "set_pending", "session_id": s}, OTHERS),
    st.builds(lambda r: {"op": "set_workspace", "workspace": {"root": r}}, OTHERS),
    st.builds(lambda c: {"op": "set_children", "children": c}, st.lists(CHILDREN, unique_by=lambda c: c["name"])),
    st.builds(lambda c: {"op": "remove_child", "child": c}, OTHERS),
    st.builds(lambda p: {"op": "add_peer", "peer": p}, OTHERS),
    st.builds(lambda p: {"op": "set_peers", "peers": p}, st.lists(OTHERS)),
    st.builds(lambda p: {"op": "remove_peer", "peer": p}, OTHERS),
    st.builds(lambda m: {"op": "set_manifest", "manifest": m}, st.none() | st.integers() | st.text(max_size=3)),
    st.just({"op": "remove"}),
)


def _modelled(pod: Model | None, change: Change) -> Model | None:
    """Return what a change makes of a pod, as the documentation says it; None stands for no pod."""
    op = change["op"]
    if op == "remove" or (pod is None and op in ("remove_child", "reclaim", "remove_peer")):
        return None
    new: Model = deepcopy(pod) if pod is not None else {"children": {}, "gone": [], "peers": set()}
    match op:
        case "set_active" | "set_pending":
            new["active"] = {name: value for name, value in change.items() if name != "op"}
        case "set_workspace" | "set_manifest":
            new[op.removeprefix("set_")] = change[op.removeprefix("set_")]
        case "set_children":
            new["children"] = {child["name"]: child for child in change["children"]}
        case "add_child":
            new["children"][change["child"]["name"]] = change["child"]
        case "remove_child":
            new["children"].pop(change["child"], None)
        case "reclaim":
            gone = [name for name in new["children"] if name in change["children"]]
            new["gone"] += [[(name, new["children"].pop(name)["scopes"]) for name in gone]] if gone else []
        case "add_peer":
            new["peers"].add(change["peer"])
        case "set_peers":
            new["peers"] = set(change["peers"])
        case "remove_peer":
            new["peers"].discard(change["peer"])
    return new


def _seen(store: PodStore, name: str) -> Model | None:
    """Return a stored pod as the model has it."""
    try:
        pod = store.read(name)
    except NoPod:
        return None
    found: Model = {
        "children": {child["name"]: dict(child) for child in pod["children"]},
        "gone": [[(child["name"], child["scopes"]) for child in each["children"]] for each in pod["reclaimed"]],
        "peers": set(pod["peers"]),
    }
    return found | {each: pod[each] for each in ("active", "workspace", "manifest") if each in pod}


def _outcomes(pod: Model | None, certain: list[Change], perhaps: list[Change]) -> Iterator[Model | None]:
    """Yield what may come of changes in any order, of which some may have been lost with their writer."""
    for kept in ([*certain, *perhaps], certain) if perhaps else (certain,):
        for order in permutations(kept):
            found = pod
            for change in order:
                found = _modelled(found, change)
            yield found


class Pods(RuleBasedStateMachine):
    """Two writers on one root, and the model beside it."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pond-pods-"))
        self.writers = [PodStore(self.folder / "pods"), PodStore(self.folder / "pods")]
        self.model: dict[str, Model | None] = {}

    @rule(writer=st.sampled_from([0, 1]), name=NAMES, change=CHANGES)
    def change(self, writer: int, name: str, change: Change) -> None:
        """One writer changes a pod, undisturbed."""
        self._made(writer, name, change)()
        self.model[name] = _modelled(self.model.get(name), change)

    @rule(name=NAMES, child=CHILDREN)
    def spawn_and_reclaim(self, name: str, child: dict[str, Any]) -> None:
        """One writer adds a child and the other reclaims it: the history grows by one."""
        self.change(0, name, {"op": "add_child", "child": child})
        self.change(1, name, {"op": "reclaim", "children": [child["name"]]})

    @rule(name=NAMES, change=CHANGES, at=st.integers(0, 25))
    def change_and_die(self, name: str, change: Change, at: int) -> None:
        """A writer dies at some call: its change is there as a whole, or not at all."""
        code = dying.ended(dying.start(self._made(0, name, change), at))
        assert code in (dying.DONE, dying.DIED)
        certain, perhaps = ([change], []) if code == dying.DONE else ([], [change])
        self._settle(name, _outcomes(self.model.get(name), certain, perhaps))

    @rule(name=NAMES, both=st.tuples(CHANGES, CHANGES), at=st.none() | st.integers(0, 25))
    def change_at_once(self, name: str, both: tuple[Change, Change], at: int | None) -> None:
        """Two writers change one pod at the same moment, and one of them may die: no change of the other is lost."""
        pids = [dying.start(self._made(0, name, both[0]), at), dying.start(self._made(1, name, both[1]), None)]
        codes = [dying.ended(pid) for pid in pids]
        assert codes[1] == dying.DONE
        assert codes[0] in (dying.DONE, dying.DIED)
        certain, perhaps = ([*both], []) if codes[0] == dying.DONE else ([both[1]], [both[0]])
        self._settle(name, _outcomes(self.model.get(name), certain, perhaps))

    def _made(self, writer: int, name: str, change: Change) -> Callable[[], object]:
        store = self.writers[writer]

        def make() -> None:
            if change["op"] == "remove":
                store.remove(name)
                return
            try:
                store.change(name, change)  # type: ignore[arg-type]
            except NoPod:
                assert change["op"] in ("remove_child", "reclaim", "remove_peer")

        return make

    def _settle(self, name: str, allowed: Iterable[Model | None]) -> None:
        """Take what is there for what happened, if it may have."""
        found = _seen(self.writers[0], name)
        assert found in list(allowed)
        self.model[name] = found

    @invariant()
    def is_as_modelled(self) -> None:
        """Both writers read what the model says, and list what is there."""
        for store in self.writers:
            for name, pod in self.model.items():
                assert _seen(store, name) == pod
            assert store.names() == sorted(name for name, pod in self.model.items() if pod is not None)

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


Pods.TestCase.settings = settings(max_examples=size(200, 12), stateful_step_count=size(40, 20), deadline=None)
TestPods = Pods.TestCase
