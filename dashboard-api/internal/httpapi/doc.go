// Package httpapi is the REST interface: every route is in routes.go, with the
// policy of who may use it; each resource has a file.
//
// It guarantees that
//   - a route without a declared policy does not start (router.go), and who is
//     asking is decided before anything of the request is parsed;
//   - every error is an RFC 9457 problem with a code and a request id; mistakes
//     in a document come all at once, each with a JSON pointer, and store nothing;
//   - a dependency that is down is 503 with Retry-After, never an empty answer
//     and never "not found" (the table in errors.go);
//   - documents are read by exact field names: unknown, read-only and privileged
//     fields are refused.
package httpapi
