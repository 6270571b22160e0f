package httpapi

import "net/http"

// routes is every route there is, and who may use it.
func (a *api) routes(r *router) {
	add(r, operation{"GET", "/api/v1/targets", Viewer, "listTargets", "List targets by id", 0}, a.listTargets)
	add(r, operation{"POST", "/api/v1/targets", Editor, "createTarget", "Register a target", http.StatusCreated}, a.createTarget)
	add(r, operation{"GET", "/api/v1/targets/{id}", Viewer, "getTarget", "Read a target", 0}, a.getTarget)
	add(r, operation{"PATCH", "/api/v1/targets/{id}", Editor, "patchTarget", "Change a target (JSON merge patch)", 0}, a.patchTarget)
	add(r, operation{"DELETE", "/api/v1/targets/{id}", Editor, "deleteTarget", "Delete a target and its history", 0}, a.deleteTarget)

	add(r, operation{"GET", "/api/v1/targets/{id}/results", Viewer, "listResults", "Results of a target, newest first", 0}, a.listResults)
	add(r, operation{"GET", "/api/v1/targets/{id}/evidence", Viewer, "getEvidence", "One result of a target, with what the visit saw", 0}, a.evidence)
	add(r, operation{"GET", "/api/v1/targets/{id}/series", Viewer, "getSeries", "Results of a target, folded into steps", 0}, a.series)
	add(r, operation{"GET", "/api/v1/targets/{id}/uptime", Viewer, "getUptime", "Slots of a target, counted by status", 0}, a.uptime)
	add(r, operation{"GET", "/api/v1/results/latest", Viewer, "latestResults", "Newest results of many targets", 0}, a.latestResults)
	add(r, operation{"GET", "/api/v1/ledger", Viewer, "getLedger", "Planned slots against their outcomes, by region", 0}, a.ledger)

	add(r, operation{"GET", "/api/v1/assertions/rules", Viewer, "listAssertionRules", "What may be asserted of which kind of target", 0}, a.assertionRules)
	add(r, operation{"POST", "/api/v1/checks", Editor, "createCheck", "Check a URL, or a target that is not saved, now", http.StatusAccepted}, a.createCheck)
	add(r, operation{"GET", "/api/v1/checks", Viewer, "listChecks", "Checks on demand, newest first", 0}, a.listChecks)
	add(r, operation{"GET", "/api/v1/checks/{id}", Viewer, "getCheck", "A check on demand and what it saw", 0}, a.getCheck)

	add(r, operation{"GET", "/api/v1/live/snapshot", Viewer, "getSnapshot", "The live state of everything", 0}, a.snapshot)
	raw(r, operation{"GET", "/api/v1/live", Viewer, "live", "Websocket with the changes after a snapshot (sub-protocol probefleet.v1.json)", 0}, a.Socket)
	add(r, operation{"GET", "/api/v1/fleet", Viewer, "getFleet", "Probers, regions and stores", 0}, a.fleet)

	add(r, operation{"POST", "/api/v1/setup", Public, "setUp", "Make the first owner, with the token printed at start", http.StatusCreated}, a.setUp)
	add(r, operation{"POST", "/api/v1/session", Public, "logIn", "Sign in", 0}, a.logIn)
	add(r, operation{"GET", "/api/v1/session", Public, "getSession", "Who is signed in", 0}, a.currentSession)
	add(r, operation{"DELETE", "/api/v1/session", Viewer, "logOut", "Sign out", 0}, a.logOut)

	raw(r, operation{"GET", "/api/openapi.json", Public, "openapi", "This document", 0}, a.description(r))
}
