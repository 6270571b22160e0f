// Package seal keeps the secrets that checks are made with (passwords, tokens,
// headers) unreadable wherever they are stored or sent: the dashboard's API seals
// them when a target is saved, and only the prober that visits the target opens them.
//
// Promises:
//   - What is sealed is encrypted and authenticated (AES-256-GCM with random nonces,
//     NIST SP 800-38D) under a key derived from the installation's SECRET_KEY
//     (HKDF-SHA-256, RFC 5869). A text that was changed does not open.
//   - The name of the key is in the text, so that keys can be changed: a Box seals
//     with its first key and opens with all, and seals anew what an older one sealed.
//   - What was opened is a secret.Text, which never prints itself.
package seal
