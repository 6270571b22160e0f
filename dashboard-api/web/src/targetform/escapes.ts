// What is sent to a port, as it is typed: every text can be written, and reads back the same. A line break in
// the field is CR LF, as protocols of lines want it; a browser would make LF of both.

const named: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a field cannot hold
const unshown = /\r\n|[\u0000-\u001f\u007f\\]/g;

/** A text as the field shows it. */
export const typedOf = (text: string): string =>
  text.replace(unshown, (found) =>
    found === "\r\n" ? "\n" : (named[found] ?? `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`),
  );

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", "\\": "\\" };

/** What was typed as the text that it stands for; a backslash before anything else is one. */
export const textOf = (typed: string): string =>
  typed.replace(/\r\n|\n|\\(?:x([0-7][0-9a-fA-F])|([nrt\\]))/g, (_, code?: string, letter?: string) => {
    if (code) return String.fromCharCode(Number.parseInt(code, 16));
    return escapes[letter ?? ""] ?? "\r\n";
  });
