import { type MessageFormatElement, parse } from "@formatjs/icu-messageformat-parser";
import { expect, test } from "vitest";
import { collect } from "./collect";
import { languages } from "./t";

const sources = Object.entries(
  import.meta.glob<string>(
    ["../**/*.{ts,tsx}", "!../**/*.test.ts", "!../live/testdata.ts", "!../**/*.gen.ts", "!./*"],
    {
      query: "?raw",
      import: "default",
      eager: true,
    },
  ),
).map(([path, source]) => [path.replace("../", "src/"), source] as const);
const said = sources.map(([path, source]) => collect(path, source));
const keys = new Set(said.flatMap((one) => one.keys));
const catalogues = Object.entries(
  import.meta.glob<Record<string, string>>("./catalogues/*.json", { import: "default", eager: true }),
).map(([path, words]) => [path.slice(13, -5), words] as const);

/** What a text needs to be given: its values with their kinds, and its marks. */
function needs(elements: MessageFormatElement[], found = new Set<string>()): Set<string> {
  for (const element of elements) {
    if ("value" in element && element.type !== 0) found.add(`${element.value}:${element.type}`);
    if ("children" in element) needs(element.children, found);
    if ("options" in element) for (const option of Object.values(element.options)) needs(option.value, found);
  }
  return found;
}

test("nothing is said past the catalogues", () => {
  expect(said.flatMap((one) => one.bare)).toEqual([]);
});

test("every language has its catalogue", () => {
  expect(catalogues.map(([code]) => code).sort()).toEqual(
    Object.keys(languages)
      .filter((code) => code !== "en")
      .sort(),
  );
});

test.each(catalogues)("%s says everything, and needs nothing else than English does", (code, words) => {
  expect({ missing: [...keys].filter((key) => !words[key]?.trim()) }).toEqual({ missing: [] });
  expect({ unused: Object.keys(words).filter((key) => !keys.has(key)) }).toEqual({ unused: [] });
  for (const key of keys) {
    const text = words[key] ?? "";
    expect([...needs(parse(text))].sort(), `${code}: ${text}`).toEqual([...needs(parse(key))].sort());
    const rules = new Intl.PluralRules(code);
    const plurals = (elements: MessageFormatElement[]): void => {
      for (const element of elements) {
        if ("children" in element) plurals(element.children);
        if (!("options" in element)) continue;
        if (element.type === 6)
          // A form for millions only (es, fr, it, pt) is what other is.
          for (const form of rules.resolvedOptions().pluralCategories)
            if (form !== "many" || !["es", "fr", "it", "pt"].includes(code))
              expect(Object.keys(element.options), `${code}: ${text}`).toContain(form);
        for (const option of Object.values(element.options)) plurals(option.value);
      }
    };
    plurals(parse(text));
  }
});
