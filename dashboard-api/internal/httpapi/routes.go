package httpapi

import "net/http"

// routes is every route there is, and who may use it.
func (a *api) routes(r *router) {
	add(r, operation{"GET", "/api/v1/targets", Viewer, "listTargets", "List targets by id", 0}, a.listTargets)
	add(r, operation{"POST", "/api/v1/targets", Editor, "createTarget", "Register a target", http.StatusCreated}, a.createTarget)
	add(r, operation{"GET", "/api/v1/targets/{id}", Viewer, "getTarget", "Read a target", 0}, a.getTarget)
	add(r, operation{"PATCH", "/api/v1/targets/{id}", Editor, "patchTarget", "Change a target (JSON merge patch)", 0}, a.patchTarget)
	add(r, operation{"DELETE", "/api/v1/targets/{id}", Editor, "deleteTarget", "Delete a target and its history", 0}, a.deleteTarget)
	add(r, operation{"GET", "/api/v1/deletions", Editor, "listDeletions", "Deleted targets, newest first, and how far removing what they left has come", 0}, a.listDeletions)
	add(r, operation{"GET", "/api/v1/deletions/{id}", Editor, "getDeletion", "How far removing what a deleted target left has come", 0}, a.deletion)

	add(r, operation{"GET", "/api/v1/targets/{id}/results", Viewer, "listResults", "Results of a target, newest first", 0}, a.listResults)
	add(r, operation{"POST", "/api/v1/targets/{id}/results", Editor, "receiveResults", "Take in results of external checkers: durable when answered", 0}, a.receiveResults)
	add(r, operation{"GET", "/api/v1/targets/{id}/heartbeat", Editor, "getHeartbeat", "Where a heartbeat stands, and the path that its job pings", 0}, a.heartbeat)
	add(r, operation{"POST", "/api/v1/targets/{id}/heartbeat/token", Editor, "rotateHeartbeat", "Give a heartbeat another path to ping; the one before ends", 0}, a.rotateHeartbeat)
	ping := http.HandlerFunc(a.ping)
	raw(r, operation{"GET", "/api/v1/heartbeats/{token}", Public, "pingByGet", "A job was successful (GET or HEAD)", 0}, ping)
	raw(r, operation{"POST", "/api/v1/heartbeats/{token}", Public, "ping", "A job was successful; the body, of any type, is kept as an excerpt of at most 10 KiB", 0}, ping)
	raw(r, operation{"GET", "/api/v1/heartbeats/{token}/{signal}", Public, "signalByGet", "A job says start, fail, log or its exit code (GET or HEAD)", 0}, ping)
	raw(r, operation{"POST", "/api/v1/heartbeats/{token}/{signal}", Public, "signal", "A job says start, fail, log or its exit code; the body is kept as an excerpt", 0}, ping)
	add(r, operation{"GET", "/api/v1/targets/{id}/evidence", Viewer, "getEvidence", "One result of a target, with what the visit saw", 0}, a.evidence)
	add(r, operation{"GET", "/api/v1/targets/{id}/series", Viewer, "getSeries", "Results of a target, folded into steps", 0}, a.series)
	add(r, operation{"GET", "/api/v1/targets/{id}/matrix", Viewer, "getMatrix", "Results of a target by region, folded into steps", 0}, a.matrix)
	add(r, operation{"GET", "/api/v1/targets/{id}/failures", Viewer, "getFailures", "What went wrong at a target, each distinct way once, with an example", 0}, a.failures)
	add(r, operation{"GET", "/api/v1/targets/{id}/histogram", Viewer, "getHistogram", "How many results of a target took how long", 0}, a.histogram)
	add(r, operation{"GET", "/api/v1/targets/{id}/uptime", Viewer, "getUptime", "Uptime of a target with what it rests on, in total and by day or month", 0}, a.uptime)
	add(r, operation{"GET", exportPath, Viewer, "exportTarget", "Stream what is kept of a target, the oldest first; the last line says that it is whole", 0}, a.export)
	r.streams(exportPath, "application/x-ndjson", mediaCSV)
	add(r, operation{"GET", "/api/v1/results/latest", Viewer, "latestResults", "Newest results of many targets", 0}, a.latestResults)
	add(r, operation{"GET", "/api/v1/results/current", Viewer, "currentResults", "The newest result of every target and region, by target", 0}, a.currentResults)
	add(r, operation{"GET", reportPath, Viewer, "getReport", "A month of all targets: uptime, downtime, incidents, and a hash of the content", 0}, a.report)
	r.answers(reportPath, reportMedia())
	add(r, operation{"GET", "/api/v1/ledger", Viewer, "getLedger", "Planned slots against their outcomes, by region", 0}, a.ledger)

	add(r, operation{"GET", "/api/v1/assertions/rules", Viewer, "listAssertionRules", "What may be asserted of which kind of target", 0}, a.assertionRules)
	add(r, operation{"POST", "/api/v1/checks", Editor, "createCheck", "Check a URL, or a target that is not saved, now", http.StatusAccepted}, a.createCheck)
	add(r, operation{"GET", "/api/v1/checks", Viewer, "listChecks", "Checks on demand, newest first", 0}, a.listChecks)
	add(r, operation{"GET", "/api/v1/checks/{id}", Viewer, "getCheck", "A check on demand and what it saw", 0}, a.getCheck)

	add(r, operation{"GET", "/api/v1/live/snapshot", Viewer, "getSnapshot", "The live state of everything", 0}, a.snapshot)
	raw(r, operation{"GET", "/api/v1/live", Viewer, "live", "Websocket with the changes after a snapshot (sub-protocol probefleet.v1.json)", 0}, a.Socket)
	add(r, operation{"GET", "/api/v1/fleet", Viewer, "getFleet", "Probers, regions and stores", 0}, a.fleet)
	add(r, operation{"GET", "/api/v1/regions", Viewer, "listRegions", "Every region there ever was, with whether anything is planned there", 0}, a.listRegions)
	add(r, operation{"DELETE", "/api/v1/regions/{region}", Owner, "retireRegion", "End a region: nothing is planned there from the publisher's next tick on. History stays; a prober of it that is started later brings it back", http.StatusOK}, a.retireRegion)
	add(r, operation{"DELETE", "/api/v1/regions/{region}/probers/{prober}", Owner, "forgetProber", "Take a prober that has ended off the fleet. What it measured stays", 0}, a.forgetProber)

	add(r, operation{"POST", "/api/v1/setup", Public, "setUp", "Make the first owner, with the token printed at start", http.StatusCreated}, a.setUp)
	add(r, operation{"POST", "/api/v1/session", Public, "logIn", "Sign in", 0}, a.logIn)
	add(r, operation{"GET", "/api/v1/session", Public, "getSession", "Who is signed in", 0}, a.currentSession)
	add(r, operation{"DELETE", "/api/v1/session", Viewer, "logOut", "Sign out", 0}, a.logOut)

	raw(r, operation{"GET", "/api/openapi.json", Public, "openapi", "This document", 0}, a.description(r))
}
