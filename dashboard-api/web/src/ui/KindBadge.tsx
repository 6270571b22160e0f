import { kindWord } from "./words";

/** What is checked, where it is not a web page: most are. */
export function KindBadge({ kind }: { kind: string }) {
  return kind === "http" ? null : <span className="kind">{kindWord(kind)}</span>;
}
