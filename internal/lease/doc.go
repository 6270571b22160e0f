// Package lease lets one of several processes do a job: a key in Redis that its
// holder renews.
//
// A lease lasts 5 s in Redis and is renewed every 1.5 s; its holder stops believing
// in it 3.5 s after it sent the last renewal that succeeded, by its own clock, whether
// or not Redis can be reached. So as long as Redis keeps the key, Held is never true
// in two processes at once, also when one was frozen; a crashed holder is replaced
// within 8 s. When Redis loses its data two may believe for up to 3.5 s: a lease saves
// work, and what it guards must be safe without it.
package lease
