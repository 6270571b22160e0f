package httpapi

import "net/http"

// accountRoutes are those of people, keys and what they did.
func (a *api) accountRoutes(r *router) {
	add(r, operation{"GET", "/api/v1/sessions", Viewer, "listSessions", "Where I am signed in, the newest first", 0}, a.listSessions)
	add(r, operation{"DELETE", "/api/v1/sessions", Viewer, "endOtherSessions", "Sign me out everywhere else", 0}, a.endOtherSessions)
	add(r, operation{"DELETE", "/api/v1/sessions/{id}", Viewer, "endSession", "Sign me out somewhere", 0}, a.endSession)
	add(r, operation{"PUT", "/api/v1/session/password", Viewer, "changePassword", "Change my password; every other session ends, with my API keys and open invitations", http.StatusOK}, a.changePassword)
	add(r, operation{"PATCH", "/api/v1/session/profile", Viewer, "patchProfile", "Change my name or address", 0}, a.patchProfile)

	add(r, operation{"GET", "/api/v1/users", Owner, "listUsers", "Users by id", 0}, a.listUsers)
	add(r, operation{"PATCH", "/api/v1/users/{id}", Owner, "patchUser", "Give a user another role; the user's sessions end. The last owner stays one", 0}, a.patchUser)
	add(r, operation{"DELETE", "/api/v1/users/{id}", Owner, "removeUser", "Remove a user with the user's sessions and keys, but not the last owner", 0}, a.removeUser)
	add(r, operation{"GET", "/api/v1/invitations", Owner, "listInvitations", "Invitations, the newest first, without their links", 0}, a.listInvitations)
	add(r, operation{"POST", "/api/v1/invitations", Owner, "invite", "Make a link with which one person makes an account; shown once", http.StatusCreated}, a.invite)
	add(r, operation{"DELETE", "/api/v1/invitations/{id}", Owner, "revokeInvitation", "Withdraw an invitation that nobody has used", 0}, a.revokeInvitation)
	add(r, operation{"POST", "/api/v1/invitations:accept", Public, "acceptInvitation", "Make the account that an invitation is for, and sign in", http.StatusCreated}, a.acceptInvitation)

	add(r, operation{"GET", "/api/v1/keys", Viewer, "listKeys", "My API keys by id, or everybody's for an owner", 0}, a.listKeys)
	add(r, operation{"POST", "/api/v1/keys", Viewer, "createKey", "Make an API key that does no more than I may; shown once", http.StatusCreated}, a.createKey)
	add(r, operation{"DELETE", "/api/v1/keys/{id}", Viewer, "revokeKey", "End an API key, and those that it made", 0}, a.revokeKey)

	add(r, operation{"GET", "/api/v1/audit", Owner, "listAudit", "Who wrote what, the newest first", 0}, a.auditLog)

	add(r, operation{"POST", "/api/v1/session:verify", Public, "verify", "Finish signing in with a code of the second factor", 0}, a.verify)
	add(r, operation{"GET", "/api/v1/session/second-factor", Viewer, "getSecondFactor", "Whether I have a second factor", 0}, a.secondFactor)
	add(r, operation{"POST", "/api/v1/session/second-factor", Viewer, "enrolSecondFactor", "Make a secret for an app; it counts once confirmed", http.StatusOK}, a.enrolFactor)
	add(r, operation{"POST", "/api/v1/session/second-factor:confirm", Viewer, "confirmSecondFactor", "Have the second factor count, with a first code; gives recovery codes", http.StatusOK}, a.confirmFactor)
	add(r, operation{"POST", "/api/v1/session/second-factor:remove", Viewer, "removeSecondFactor", "Go back to the password alone", http.StatusNoContent}, a.removeFactor)

	add(r, operation{"GET", "/api/v1/session/ways", Public, "getWays", "How people can sign in here besides a password", 0}, a.ways)
	add(r, operation{"POST", "/api/v1/session/passkey:begin", Public, "askPasskey", "Begin to sign in with a passkey", http.StatusOK}, a.askPasskey)
	add(r, operation{"POST", "/api/v1/session/passkey:finish", Public, "logInWithPasskey", "Sign in with a passkey alone, from the browser that began", http.StatusOK}, a.logInWithPasskey)
	add(r, operation{"POST", "/api/v1/session/provider", Public, "askProvider", "Begin to sign in with the provider of single sign-on", http.StatusOK}, a.askProvider)
	raw(r, operation{"GET", ProviderCallback, Public, "arrive", "Come back from the provider: leads to the dashboard, or to /login with ?problem= or #challenge=", 0}, http.HandlerFunc(a.arrive))
	add(r, operation{"GET", "/api/v1/session/passkeys", Viewer, "listPasskeys", "My passkeys by id", 0}, a.listPasskeys)
	add(r, operation{"POST", "/api/v1/session/passkeys", Viewer, "beginPasskey", "Begin to register a passkey", http.StatusOK}, a.beginPasskey)
	add(r, operation{"POST", "/api/v1/session/passkeys:finish", Viewer, "addPasskey", "Finish registering a passkey, from the session that began", http.StatusCreated}, a.addPasskey)
	add(r, operation{"PATCH", "/api/v1/session/passkeys/{id}", Viewer, "renamePasskey", "Call a passkey something else", 0}, a.renamePasskey)
	add(r, operation{"POST", "/api/v1/session/passkeys/{id}:remove", Viewer, "removePasskey", "Remove a passkey, unless there were no other way to sign in", http.StatusNoContent}, a.removePasskey)
}
