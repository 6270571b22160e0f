// Package hostlimit keeps this prober from being a burden to any one host, and any one
// slow host from being a burden to the checks of the others.
//
// Promises:
//   - No more visits of a host are under way at once than its limit. Its other checks
//     wait in its own queue, first come, first served.
//   - A check that waits for its host takes nothing that checks of other hosts need:
//     nobody waits for anybody of another host, and the caller does not count those that
//     wait among the checks it holds (see Waiting).
//   - Waiting ends: with a place, with the patience of the caller, or with a refusal.
//   - A host that asked to be left alone (429 with Retry-After) is left alone until then,
//     five minutes at most; its checks are refused at once, those in its queue too. So are
//     those of the host whose check was redirected to it: they would lead there again.
//   - Memory is bounded: a host is forgotten with its last visit, and of all that may
//     wait no host has more than its share once they are many.
//
// A host is what stands in the URL: a name in lower case and ASCII, or an address. The
// port does not count, and neither does what the name resolves to: two names of one
// machine are two hosts. Addresses that the operator opened (PROBER_ALLOW_CIDRS) are not
// limited when they stand in the URL themselves, and neither is localhost when loopback is
// opened; any other name is judged by its name, since whoever has the name may point it
// elsewhere. A DNS check that asks the prober's own resolvers has no host in its URL: it
// counts for the domain that it asks about, as it was registered (example.co.uk for
// www.example.co.uk), or the name itself where there is none.
//
// Checks on demand count like scheduled ones.
//
// The limit is of the URL's host: where redirects lead is visited on its account, with
// the whole visit and a second look at a failure as one place. How often a host is visited
// at all is judged where targets are saved: targetstore.HostRate.
package hostlimit
