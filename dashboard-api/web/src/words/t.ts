// The words of the dashboard in the language of whoever reads it. The English words are the keys,
// in ICU MessageFormat (https://unicode-org.github.io/icu/userguide/format_parse/messages/): what
// the source says is what an English page shows, and the catalogues beside say the rest.
import { IntlMessageFormat, type PrimitiveType } from "intl-messageformat";

const files = import.meta.glob<Record<string, string>>("./catalogues/*.json", { import: "default" });

/** Every language of the dashboard, by its code, with its own name. */
export const languages = {
  ar: "العربية",
  de: "Deutsch",
  en: "English",
  es: "Español",
  fr: "Français",
  he: "עברית",
  it: "Italiano",
  ja: "日本語",
  nl: "Nederlands",
  pl: "Polski",
  pt: "Português",
  zh: "中文",
} as const;
export type Language = keyof typeof languages;

let language: Language = "en";
let catalogue: Record<string, string> = {};
let messages = new Map<string, IntlMessageFormat>();

/** The language of the page, as Intl takes it. English is written with days before months and 24 hours. */
export const locale = (): string => (language === "en" ? "en-GB" : language);

export const direction = (): "ltr" | "rtl" => (language === "ar" || language === "he" ? "rtl" : "ltr");

/** The first of the wished languages that there is, whatever its region. */
export function pick(wishes: readonly string[]): Language {
  for (const wish of wishes) {
    const code = wish.toLowerCase().split("-")[0] ?? "";
    if (Object.hasOwn(languages, code)) return code as Language;
  }
  return "en";
}

/** Makes a language the page's. It has to be there before anything that speaks is imported. */
export async function speak(wanted: Language): Promise<void> {
  const words = wanted === "en" ? {} : await files[`./catalogues/${wanted}.json`]?.();
  if (!words) return;
  language = wanted;
  catalogue = words;
  messages = new Map();
}

export type Values = Record<string, PrimitiveType>;

function message(text: string): IntlMessageFormat {
  let made = messages.get(text);
  if (!made) {
    made = new IntlMessageFormat(catalogue[text] ?? text, locale());
    messages.set(text, made);
  }
  return made;
}

/**
 * A text in the language of the page: `t("{n, plural, one {# target} other {# targets}}", { n })`.
 * The text is written out where it is used, so that a test finds all of them.
 */
export function t(text: string, values?: Values): string {
  return values ? String(message(text).format(values)) : (catalogue[text] ?? text);
}

/** A text with marked parts, each of which is handed to the function of its name. */
export const parts = <P>(text: string, values: Record<string, PrimitiveType | P | ((inner: (string | P)[]) => P)>) => {
  const made = message(text).format<P>(values);
  return Array.isArray(made) ? made : [made];
};
