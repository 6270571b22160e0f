import type { ImportLine } from "../api/transfer";
import { t } from "../words/t";

const MOST = 80; // characters of a value: a body may be long

/** A value as people read it. */
export function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "—";
  if (Array.isArray(value) && value.every((one) => typeof one !== "object"))
    return value.length === 0 ? "—" : value.join(" ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text;
}

/** What an import changes of a target. */
export const changeWords = ({ pointer, from, to }: NonNullable<ImportLine["changes"]>[number]): string =>
  pointer === ""
    ? t("A secret is written anew.")
    : t("{field}: {from} → {to}", {
        field: pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~"),
        from: shown(from),
        to: shown(to),
      });
