package httpapi

// accountRoutes are those of people, keys and what they did.
func (a *api) accountRoutes(r *router) {
	add(r, operation{"GET", "/api/v1/sessions", Viewer, "listSessions", "Where I am signed in, the newest first", 0}, a.listSessions)
	add(r, operation{"DELETE", "/api/v1/sessions", Viewer, "endOtherSessions", "Sign me out everywhere else", 0}, a.endOtherSessions)
	add(r, operation{"DELETE", "/api/v1/sessions/{id}", Viewer, "endSession", "Sign me out somewhere", 0}, a.endSession)
	add(r, operation{"PUT", "/api/v1/session/password", Viewer, "changePassword", "Change my password; every other session ends", 0}, a.changePassword)
	add(r, operation{"PATCH", "/api/v1/session/profile", Viewer, "patchProfile", "Change my name or address", 0}, a.patchProfile)
}
