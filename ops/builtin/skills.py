"""What an agent should know before it asks, served at `v/skills/agents/hitl` for a model to read;
and what each adapter is for, at `v/info/adapters`.
"""

ADAPTERS = {
    "hitl": "Ask people for decisions, answer them, and say whom not to hear from.",
    "ucan": "Confer capabilities as signed tokens; verify, list and revoke them.",
    "covia": "Read what is yours or was opened to you by path, and write documents below w/.",
    "agent": "Enrol agents that work in your namespace, bind their keys, and revoke them.",
    "user": "Give people an inbox; their keys and sign-ins. Mostly for the operator.",
    "audit": "Read the audit chain of an inbox.",
}

_RULES = """\
Ask a person when a decision is theirs: money, publishing, deleting, or authority that you do not have.

1. Call v/ops/hitl/request with a one-line title, a description in Markdown that holds everything needed to
decide,
   and asks: text, approval, choice, checkboxes or token. Mark the ones that must be answered as required.
2. Say a timeout in seconds if the question loses its point; without one it waits for ever.
3. If you need authority, put grants on the approval or the option that should confer it: the smallest
resource, the
   weakest ability, the shortest lifetime. The person confers exactly what they echo, or less, or nothing.
4. The job stays INPUT_REQUIRED while the person decides. Wait on the job; do not ask again. An
Idempotency-Key lets you
   repeat a call whose answer you lost.
5. COMPLETE brings answers and perhaps a token; FAILED says rejected, with the reason, or expired. Take a no
for a no. 6. You cannot answer a request yourself, nor delete one, nor grant anything: no capability changes
that.
"""

SKILLS = {
    "agents": {
        "hitl": {
            "name": "Ask a person",
            "description": "How to ask for a decision or for authority, and what comes back.",
            "skill": {
                "tools": ["v/ops/hitl/request", "v/ops/hitl/list", "v/ops/covia/read", "v/ops/ucan/verify"],
                "jobs": {"status": "GET /api/v1/jobs/{id}", "stream": "GET /api/v1/jobs/{id}/sse"},
                "instructions": _RULES,
            },
        }
    }
}
"""The skills of this venue, as the virtual namespace shows them."""
