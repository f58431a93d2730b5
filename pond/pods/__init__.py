"""The state of named agents: what a name means now. The lake keeps the other half, what happened.

There are two authorities, with two roots and no file in common.

| question | authority |
|---|---|
| what was said, in which order; which segment followed which | the session, in the lake |
| which session and segment a name points at | the pod |
| the manifest a pod is restored with | the pod's snapshot; the session's own start says what a past segment ran with |
| which children are outstanding, and what was delegated to them | the pod |
| what the model was told of its children | the session: lifecycle messages and the notifications of restores |
| what the parent may write | nobody stores it: the manifest's scope, less the outstanding write delegations |
| whether a child is alive | the child itself, when it is asked; paths and addresses in a record are hints |

A pod points at a session and is not part of one, because the two live differently. A session is written once and only
grows; a pod is overwritten with every step of its agent. A session can be exported, erased or held in a lake far away;
a pod belongs to one machine. And a name outlives its sessions: compaction and forks move the pointer on.

So this package knows the ids of sessions and segments, and nothing else of them: no lake, no codec, no search. Nobody
but this package reads or writes its files. `operations.pods` joins the two authorities, where a pod is restored.
"""
