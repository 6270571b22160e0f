// Package session knows who is asking: people with a password and a cookie,
// programs with an API key.
//
// It guarantees that
//   - passwords are stored as argon2id, tokens and keys only as hashes;
//   - a session, key or role that ends in the database has ended for the next
//     request: nothing is cached;
//   - guessing is slowed per account and address, and per account from everywhere, and costs the
//     same whether or not the account exists; a browser that has signed in to an account is
//     counted by itself there, so that no guesser keeps a person out of it;
//   - exactly one first owner can be made, with a token printed at start.
package session
