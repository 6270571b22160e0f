// Package resolve looks up the names of every check of a prober: one cache, one
// judgement of whose fault a failed look-up is.
//
// Promises:
//   - Whose fault it is shows in the type of the error. NotFound and Broken are the
//     target's (failure dns): a server that works says that there is no such name or
//     address, or that works for other names cannot resolve this one. Trouble is ours
//     (reason probe_dns): no server that works was found, or we gave up too early to tell.
//   - A server's silence or SERVFAIL is held against a name only if the same server resolved
//     something else that was sent after the name's own question: another check's, or a
//     control question, at most one round a second. What is resolved must be a name that
//     this server resolved before and whose answer has run out meanwhile: a resolver that
//     lost its own uplink still answers from its cache, and must not make every target look
//     down. (Its cache may know the name all the same if others ask it too, or if it serves
//     stale answers.) While there is no such name in another domain, the control question is
//     ". NS". Silence counts after two whole tries, or, when the caller's deadline comes
//     first, after one.
//   - An answer is held for its TTL, at most 60 s; "no such name" and "no such address" for
//     what the SOA record says, at most 10 s, and not at all without one (RFC 2308 §5). With
//     TTL 0 it serves those who wait for it and nobody after them. Everything else is held
//     for 1 s, so that a dead resolver is not hammered.
//   - However many look-ups of a name run at once, each of its two questions (A, AAAA) is
//     asked once. A caller that gives up disturbs nobody.
//   - A and AAAA are asked at once, and one family's failure does not spoil the other's
//     answer. Once one has addresses the other gets 500 ms more (a quarter of the caller's
//     time, if that is less); what comes later is there for the next look-up, if its TTL is not 0.
//   - Memory is bounded: 50,000 names, the least recently used leaving first, with at
//     most 16 addresses a family. Full of names with two addresses of each family it takes
//     20 MB (400 bytes a name); no zone can make it more than 105 MB (BenchmarkFullCache).
//     At most 1,024 questions are out at once, each a file descriptor over UDP.
//   - Names are absolute: no search domain is ever appended, also not to names without dots.
//
// Addresses come in the order of RFC 6724 §6 as far as it can be told without knowing the
// connection: those that this machine has no route to come last (rule 1), then higher
// precedence first (rule 6: IPv6, IPv4, 6to4, Teredo, unique local), else the order of the
// server's answer (rule 10), which is how a zone spreads its load. Rule 9, the longest common
// prefix, is left out: it would undo that.
//
// The servers are the operator's choice, so the guard of targets does not judge them.
package resolve
