// Package notify tells people of incidents.
//
// Planner, a pure function, says who is told of a change, and when: it runs in the
// transaction of the change, and what it gives lies in the outbox from then on. Worker,
// on every API node, sends what is due. Each kind of channel is a type of configuration that
// knows how to be judged, shown and sent.
//
// Guarantees:
//
//   - What is in the outbox is sent until the provider took it or refused it for good, for
//     24 hours, with growing pauses, and not before a Retry-After. It is sent again after a
//     crash, with the same key: Idempotency-Key (webhook), Message-ID (e-mail), dedup_key
//     (PagerDuty), alias (Opsgenie). Providers without one may show it twice.
//   - Of one incident a channel hears in the order of what happened. A channel that hangs or
//     refuses delays no other one, and of itself only what is of the same incident or beyond
//     its four senders.
//   - Every address is judged when it is dialled (package guard); redirects are not followed
//     and no proxy is asked.
//   - Secrets are texts of type Secret: they print as a mark wherever they stand, are sealed
//     as they are stored, and are looked for in all that a provider answers, and in its other
//     spellings, before that is kept or shown.
//
// The signature of a webhook: X-Probefleet-Signature is "v1=" and the HMAC-SHA256, in hex,
// of X-Probefleet-Timestamp (Unix seconds), a dot and the body, under the channel's secret.
// Receivers compare it in constant time, and refuse timestamps older than some minutes.
package notify
