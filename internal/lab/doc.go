// Package lab is a target server whose behaviour is in what is asked of it: what
// the demo watches, what load is run against, and what the engine's tests visit.
// It guarantees that a body costs it little memory however long it is, and that
// Close ends every server, connection and goroutine. A client that is silent for
// a minute, before its request or between two, loses its connection.
//
// # HTTP paths
//
// Every HTTP server of the lab knows all of them. Those marked * write to the
// connection past net/http, which HTTP/2 does not allow: there they answer 500.
//
//	/ok, /n/<anything>          200 "ok"
//	/status/503                 that status
//	/slow/800ms                 200 after that long
//	/flap/30s                   200 and 503 in turn, changing every 30 s of the clock
//	/hang                       no answer, ever
//	/reset *                    the connection is reset instead of an answer
//	/close *                    the connection is closed instead of an answer
//	/malformed *                bytes that are not HTTP
//
//	/body/N                     200 with N bytes and their Content-Length
//	/chunked/N                  N bytes, chunked
//	/until-close/N *            N bytes, ended by the close
//	/length/M/N *               Content-Length: M and N bytes, then the close
//	/drip/10/100ms              200, then ten bytes, one every 100 ms
//	/endless/{chunked|length *|close *}   a body without end; "length" promises 10 GB
//	/cut *, /cut-headers *      the connection is closed in the middle of the body, of the headers
//	/cut-rudely *               as /cut, over TLS without a close_notify (RFC 8446 §6.1)
//	/reset-body *, /reset-headers *       the same by a reset
//	/endless-{chunk|trailers} * a chunk extension, or trailers, without end
//
//	/encoded/E/<text>           the text in encoding E: gzip, deflate, br, zstd, raw-deflate
//	                            (deflate without its zlib wrapping, RFC 9110 §8.4.1.2) or gzip-twice
//	/encoded-cut/E/<text>       the first half of the encoded bytes
//	/encoded-lie/E/<text>       the text as it is, labelled E
//	/encoded-tail/E/<text>      the encoded bytes, and some more
//	/bomb/E                     a small body that decodes to 256 MiB, asked for or not;
//	                            zstd-window wants 2 GiB of memory first
//	/bomb/endless               gzip without end
//	/bomb/stalled               zstd that decodes to 896 KiB, and then nothing
//	/gzip-bomb                  /bomb/gzip
//
//	/headers/N                  200 with at least N bytes of headers
//	/many-headers/N             N short headers
//	/header-line/N              one header of N bytes
//	/slow-headers/10/100ms *    ten bytes of a header, one every 100 ms, then 200
//	/endless-{header|headers} * one header, or headers, without end
//	/interim/N *                N answers 103 and 100 in turn, then 200
//	/endless-interim *          103 without end
//	/odd/<name> *               an answer that is not, or hardly, HTTP: Odd lists them, odd.go shows them
//	/raw/{close|reset|hang}/<base64url> * those bytes, then that
//
//	/redirect/N                 N redirects (302), then 200
//	/redirect/308/N             N redirects of that code, then /echo
//	/redirect-to?url=…&code=…   one redirect to there, 302 if no code is given
//	/redirect-slow/N/300ms      N redirects, then 200, each after that long
//	/redirect-loop              a redirect to itself
//	/redirect-schemes/N         N redirects, from plain to TLS and back in turn, then /echo
//	/redirect-odd/<kind>        to /echo by a Location that is path, query, host, relative or dots;
//	                            or one that is empty, missing, twice, long, spaces, bytes or userinfo
//	/cookie/set/N/V             sets cookie N to V
//	/cookie/need/N/V            200 to who brings that cookie, else 403
//	/cookie/hop/N/V             sets it and redirects to /cookie/need
//	/cookie/flood/N             N cookies
//	/basic/<user>/<password>    200 to who knows them, else 401 (RFC 7617)
//	/bearer/<token>             200 to who has it, else 401 (RFC 6750)
//	/retry/429/30               that status with Retry-After: 30; "date" is a date in half a minute
//
//	/echo, /echo/<anything>     the request as JSON, an Echo
//	/text/<text>?after=N&type=T the text, after N bytes of padding, as that content type
//	/json/<name>                a JSON document: health, store, array, text, null, numbers, keys, surrogate, bytes;
//	                            deep, deep-keys and wide with 100,000 parts; some that are none: empty, truncated,
//	                            trailing, lines, bom, html; and twice, with a key that is there twice
//	/json?doc=…                 that document
//	/ws/<kind> *                a WebSocket: the kinds below
//	/dns-query                  DNS over HTTPS (RFC 8484): the names below
//	/grpc.health.v1.Health/Check  over HTTP/2: the services below
//
// # WebSockets (RFC 6455)
//
//	/ws/echo                    every message comes back, pings are answered
//	/ws/hello                   "hello" first, then as echo
//	/ws/silent                  takes everything and says nothing
//	/ws/refuse, /ws/plain       403, 200 instead of the upgrade
//	/ws/wrong-key, /ws/no-key   a Sec-WebSocket-Accept to another key, none at all (§4.1)
//	/ws/protocol, /ws/extension a subprotocol, an extension the client did not ask for
//	/ws/close                   a close frame with 1011 at once
//	/ws/cut                     the connection ends without one
//	/ws/huge-frame              a frame of 2^62 bytes, sent as far as the client takes it
//	/ws/endless, /ws/pings      a message of small fragments, pings without end
//	/ws/{masked|reserved|unknown|long-control|bad-length|bytes}   a frame that §5 and §8.1 forbid
//
// # gRPC health
//
// The service asked for says what happens; HTTP/2 is needed, as "h2" and "h2c" have.
//
//	(none), serving             SERVING
//	not-serving, service-unknown, unknown   that status (3 is of Watch only, 0 of nobody)
//	status-N                    grpc-status N: 5 is NOT_FOUND, 12 UNIMPLEMENTED, 14 UNAVAILABLE
//	late-status-N               the same after an answer, in trailers
//	slow-800ms, hang            SERVING after that long, no answer
//	http-503                    that HTTP status, and text
//	wrong-type                  200, text/html
//	no-status                   an answer without grpc-status
//	cut                         the stream is reset in the middle of the answer
//	huge                        a message of 4 GiB is announced
//	garbage, compressed         a message that is not protobuf, that is compressed by nobody knows what
//	two, empty                  two messages where one is due, none and status 0
//	<anything else>             NOT_FOUND, as the protocol wants of a service nobody knows
//
// # Servers
//
// Four HTTP servers run from the start: "plain", "tls" with a certificate of the
// lab's own authority, "expired" and "wrong-name". The others start when At or
// Addr first asks for them by name; Names lists them.
//
//	self-signed, untrusted      no authority of CertPool signed it
//	not-yet-valid               valid in three days
//	expires-in-<duration>       valid that long, such as expires-in-72h
//	chain, incomplete           signed by an intermediate that is sent, is missing
//	long-chain, huge-chain      100 KB, 1 MB of certificates
//	odd-subject                 a valid certificate whose subject has markup and control characters
//	any-name                    valid for whatever name the client asks (RFC 6066 §3)
//	rsa, ecdsa                  RSA 2048, a P-384 key
//	tls10, tls11, tls12, tls13  that version and no other
//	client-cert                 wants ClientCertificate
//	h2, h2-only, h2c            HTTP/2 and 1.1, HTTP/2 alone, HTTP/2 and 1.1 without TLS
//	tls-plain                   plain HTTP under an https URL
//	tls-slow                    answers the client's hello after 300 ms
//	tls-silent                  takes the client's hello and never answers
//	tls-stall, tls-cut, tls-reset   the server's hello, then nothing more, the close, a reset
//	tls-drip                    the handshake, a byte every 50 ms
//	tls-alert, tls-garbage      a fatal alert, bytes that are not TLS instead of a handshake
//	tls-flood                   a server's hello without end
//	h2-hostile, h2c-hostile     HTTP/2 frames that do harm: the paths below
//
//	tcp                         the client's lines say what to do: the lines below
//	tcp-banner                  the same after a greeting; tcp-split greets in two pieces,
//	                            tcp-binary with bytes that no terminal should see
//	tcp-drip, tcp-flood         one byte every 100 ms, as many as the client takes, without end
//	tcp-silent, tcp-close, tcp-reset  what they say, as soon as the client has connected
//	smtp, imap, ftp             enough of them for STARTTLS (RFC 3207, RFC 9051 §6.2.1, RFC 4217)
//	smtp-<fault>, imap-…, ftp-… the same with a fault: busy (sends the client away), babble (greets in no
//	                            protocol), endless (greets without end), missing (no TLS), refusing (offers
//	                            TLS and refuses it); or agrees to TLS and then garbage (bytes that are not
//	                            TLS), stalling (no answer), cutting (closes), injecting (an answer in clear
//	                            behind its agreement, CVE-2011-0411), expired (a certificate that ran out)
//
//	dns, dot                    DNS over UDP and TCP on one port, over TLS (RFC 7858)
//	doh                         the URL of /dns-query on "h2"
//
//	black-hole                  takes connections and never reads nor answers, thousands of them
//	black-hole-tls              the same after the handshake
//	refused                     a port at which nobody listens, and nobody will
//	full                        a port whose backlog is full: connecting takes forever (Linux)
//
// # Lines of "tcp"
//
// Lines are at most 4 KB. Any other is answered with "unknown".
//
//	echo TEXT                   TEXT comes back
//	slow 800ms TEXT             the same after that long
//	send N                      N bytes without a line end
//	drip N 100ms                N bytes, one every 100 ms
//	flood                       bytes without end
//	silence                     nothing is answered any more
//	close, reset                what they say
//
// # Paths of "h2-hostile" and "h2c-hostile"
//
// They answer the first request of a connection, or a gRPC health check of the service "ok" as
// they answer /ok, and stay until the client leaves.
//
//	/ok                         200 "ok"
//	/silent                     nothing
//	/goaway                     GOAWAY: nothing was processed, 16 KB of debug data
//	/rst, /rst-body, /cut       RST_STREAM instead of an answer, in the middle of its body; the close there
//	/{rst|ping|settings|window|priority}-flood   such frames without end
//	/unknown-flood              frames of a type nobody knows, to be ignored (RFC 9113 §5.5), without end
//	/continuation-flood         headers that never end
//	/interim-flood              103 without end
//	/empty-data                 a body of empty frames without end
//	/hpack-bomb                 16 KB that unpack to 48 MB of headers
//	/unfinished                 4 KB that unpack to 240 KB, and then nothing though more is announced
//	/overflow                   a body that does not heed flow control (§5.2), without end
//	/window-overflow            a window larger than 2^31-1 (§6.9.1)
//	/push                       PUSH_PROMISE
//	/big-frame                  a frame of 16 MB, when 16 KB are allowed (§4.2)
//	/no-status, /upper-case, /connection   headers that §8.2 and §8.3 forbid
//	/data-first, /other-stream  an answer without headers, on a stream nobody opened
//	/garbage                    bytes that are not frames
//
// # Names
//
// The DNS servers answer for lab.test, as a resolver would. The labels before it
// say what; they combine, as in slow-800ms.ttl-0.a-192-0-2-1.lab.test. Any name
// that exists has MX, TXT, NS, SOA, CAA and SRV records too; lab.test itself has
// the lab's address. Names outside are refused, labels not listed do not exist.
//
//	a-192-0-2-1, aaaa-2001-db8--1   that address; several labels give several
//	many-N                      N addresses of 198.18.0.0/15
//	txt-<text>                  that text in a TXT record
//	cname-N                     N aliases that lead to the name without this label
//	loop                        an alias of loop-back, which is an alias of loop
//	ttl-N                       the TTL of all records, else 60, or 0 with rebind
//	rebind                      8.8.8.8 to the first question, 127.0.0.1 to every later one;
//	rebind-1-1-1-1-10-0-0-1     the same with those two
//	x-<anything>, _<anything>   nothing: keeps one test's rebind from another's, names a service
//	slow-800ms                  the answer comes that late
//	nxdomain, servfail, refused, formerr, notimp   that code
//	nodata                      the name exists and has no records
//	silent                      no answer, ever
//	truncated                   over UDP nothing but the TC bit, over TCP the answer
//	always-truncated            the TC bit over TCP too
//	wrong-id, wrong-name        an answer to another question
//	spoofed                     a wrong-id answer with 127.0.0.66 first, then the right one
//	garbage, header, half       bytes that are not DNS, a header and no more, half the answer
//	pointer-loop                a compressed name that points at itself (RFC 1035 §4.1.4)
package lab
