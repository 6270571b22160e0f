import { t } from "../words/t";
import { completeUrl } from "./form";

/** So many lines are taken at once: each is a request. */
export const MOST_LINES = 500;
const MOST_NAME = 120; // as the server has it

/** A line that was pasted: an address, and perhaps a name. */
export interface Line {
  /** Where it stands in the text, from 1. */
  no: number;
  text: string;
  url: string;
  /** Empty: the server names it. */
  name: string;
}

/** What is to be said of a line before it is sent. `skip`: it is watched already, or stands there twice. */
export type Judged = Line & { is: "good" | "bad" | "skip"; why: string };

const urlHeads = ["url", "urls", "uri", "link", "address", "website", "url/ip"];
const nameHeads = ["name", "title", "label", "description", "friendly name", "display name"];

/** The cells of a line of CSV (RFC 4180). A quote inside of a cell that does not begin with one is itself. */
function cells(line: string, separator: string): string[] {
  const found: string[] = [];
  for (let at = 0; ; ) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*/.exec(line.slice(at));
    const after = quoted ? at + quoted[0].length : -1;
    if (quoted && (after === line.length || line[after] === separator)) {
      found.push((quoted[1] as string).replaceAll('""', '"').trim());
      at = after;
    } else {
      const end = line.indexOf(separator, at);
      found.push(line.slice(at, end < 0 ? undefined : end).trim());
      at = end < 0 ? line.length : end;
    }
    if (at >= line.length) return found;
    at++;
  }
}

/** In which cells of each line the address and the name are, as a line of headings says; null when it is none. */
function headings(line: string): { separator: string; url: number; name: number } | null {
  for (const separator of ["\t", ",", ";"]) {
    const heads = cells(line, separator).map((head) => head.toLowerCase());
    const url = heads.findIndex((head) => urlHeads.includes(head));
    if (url >= 0) return { separator, url, name: heads.findIndex((head) => nameHeads.includes(head)) };
  }
  return null;
}

function rowsOf(text: string) {
  const rows = text
    .replace(/^\uFEFF/, "") // spreadsheets begin a file so
    .split(/\r\n|\r|\n/)
    .map((line, i) => ({ no: i + 1, text: line }))
    .filter((row) => row.text.trim() !== "");
  const heads = rows[0] ? headings(rows[0].text) : null;
  const head = heads ? rows.shift() : undefined;
  return { rows, heads, head };
}

/** The lines of a text that have something in them; a line of headings says where the address is. */
export function linesOf(text: string): Line[] {
  const { rows, heads } = rowsOf(text);
  return rows.map((row) => {
    const found = cells(row.text, heads?.separator ?? (row.text.trim().includes("\t") ? "\t" : ","));
    if (heads) return { ...row, url: found[heads.url] ?? "", name: found[heads.name] ?? "" };
    const at = Math.max(
      0,
      found.findIndex((cell) => /^[a-z][a-z0-9+.-]*:\/\//i.test(cell)),
    );
    return { ...row, url: found[at] ?? "", name: found.find((cell, i) => i !== at && cell !== "") ?? "" };
  });
}

const parsed = (url: string): URL | null => (URL.canParse(url) ? new URL(url) : null);

const schemes = ["http", "https", "tcp", "tls", "dns", "icmp", "grpc", "grpcs", "ws", "wss"];
const withPort = ["tcp", "grpc", "grpcs"];

/** What can be seen to be wrong with an address from here; the rest the server says. Empty: nothing. */
export function urlMistake(url: string): string {
  if (url === "") return t("There is no address in this line.");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\s\u0000-\u001f\u007f]/.test(url)) return t("A URL has no spaces in it.");
  const scheme = (/^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1] ?? "").toLowerCase();
  if (!schemes.includes(scheme)) return t("URLs of {scheme} cannot be watched.", { scheme: `${scheme}:` });
  if (scheme === "dns") return "";
  // Browsers read the parts of an address only of schemes that they know.
  const known = parsed(url.replace(/^[^:]+:/, "http:"));
  if (!/^[^:]+:\/\/[^/?#]/.test(url) || !known) return t("This is not a URL.");
  if (known.username !== "" || known.password !== "")
    return t("A user name or password in a URL would be shown to everybody.");
  if (withPort.includes(scheme) && !/^[^/]+\/\/[^/?#]+:\d+([/?#]|$)/.test(url))
    return t("A port is missing after the host.");
  return "";
}

/** One spelling of each address: as it would be visited. */
function spelled(url: string): string {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):(.*)$/i.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) return url;
  if (/^(https?|wss?)$/i.test(scheme)) return parsed(url)?.href ?? url;
  return `${scheme}:${rest.replace(/\/$/, "")}`.toLowerCase();
}

/** The addresses that are taken, with the name of who has it, and the names. */
export interface Taken {
  urls: ReadonlyMap<string, string>;
  names: ReadonlySet<string>;
}

export const taken = (watched: readonly { url: string; name: string }[]): Taken => ({
  urls: new Map(watched.map(({ url, name }) => [spelled(url), name])),
  names: new Set(watched.map(({ name }) => name)),
});

/** Says of each line whether it can be sent: the first of several that are the same can. */
export function judge(lines: readonly Line[], { urls, names }: Taken): Judged[] {
  const seen = new Map<string, number>();
  const given = new Map<string, number>();
  return lines.map((line) => {
    const url = completeUrl(line.url);
    const say = (is: Judged["is"], why = ""): Judged => ({ ...line, url, is, why });
    const mistake = urlMistake(url);
    if (mistake) return say("bad", mistake);
    const key = spelled(url);
    const first = seen.get(key);
    if (first !== undefined) return say("skip", t("The same as line {n, number}.", { n: first }));
    seen.set(key, line.no);
    const there = urls.get(key);
    if (there !== undefined) return say("skip", t("Watched already, as {name}.", { name: there }));
    if (line.name === "") return say("good");
    if ([...line.name].length > MOST_NAME)
      return say("bad", t("A name has at most {n, number} characters.", { n: MOST_NAME }));
    if (names.has(line.name)) return say("bad", t("Another target has the name {name}.", { name: line.name }));
    const other = given.get(line.name);
    if (other !== undefined) return say("bad", t("Line {n, number} has the same name.", { n: other }));
    given.set(line.name, line.no);
    return say("good");
  });
}

/** The text with only the lines of these numbers, below its headings. */
export function only(text: string, numbers: ReadonlySet<number>): string {
  const { rows, head } = rowsOf(text);
  return [...(head ? [head] : []), ...rows.filter((row) => numbers.has(row.no))].map((row) => row.text).join("\n");
}
