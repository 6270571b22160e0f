// The words of public pages, from the files that they themselves speak with.

type Words = Record<string, string>;

const files = import.meta.glob<Words>("../../../internal/statuspage/locales/*.json", {
  import: "default",
  eager: true,
});
const all = new Map(Object.entries(files).map(([path, words]) => [/(\w+)\.json$/.exec(path)?.[1] ?? "", words]));

/** Every language that pages speak, by its code, with its own name. */
export const languages: readonly (readonly [code: string, name: string])[] = [...all]
  .map(([code, words]) => [code, words.name ?? code] as const)
  .sort(([, a], [, b]) => a.localeCompare(b));

/** A word of a language, else of English. */
export const say = (language: string, key: string): string => all.get(language)?.[key] ?? all.get("en")?.[key] ?? "";

export const directionOf = (code: string): "rtl" | "ltr" => (code === "ar" || code === "he" ? "rtl" : "ltr");
