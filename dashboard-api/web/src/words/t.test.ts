import { afterEach, expect, test } from "vitest";
import { collect } from "./collect";
import { direction, locale, parts, pick, speak, t } from "./t";

afterEach(() => speak("en"));

test("English is what the source says", () => {
  expect(t("It's there")).toBe("It's there");
  expect([1, 1200].map((n) => t("{n, plural, one {# target} other {# targets}}", { n }))).toEqual([
    "1 target",
    "1,200 targets",
  ]);
  expect(parts<{ link: unknown }>("Read <a>the log</a>.", { a: (inner) => ({ link: inner }) })).toEqual([
    "Read ",
    { link: ["the log"] },
    ".",
  ]);
});

test("the first language that there is", () => {
  expect(pick(["gsw", "de-CH", "fr"])).toBe("de");
  expect(pick(["zh-Hant-TW"])).toBe("zh");
  expect(pick(["constructor", ""])).toBe("en");
});

test("the page's language", async () => {
  await speak("ar");
  expect([locale(), direction()]).toEqual(["ar", "rtl"]);
  await speak("en");
  expect([locale(), direction()]).toEqual(["en-GB", "ltr"]);
});

test("words that no catalogue can reach are found", () => {
  const source = `
    const a = t("One"), b = t(open ? "Two" : "Three"), c = t(name);
    const d = <p title="Four">Five <Rich text="Six <b>x</b>" b={bold} /></p>;
    const e = \`\${n} of the targets\`, f = "Nothing is lost", h = ["Down", "Enter"], g = "probefleet.zone";
    throw new Error("Seven of nine is lost");`;
  const said = collect("x.tsx", source);
  expect(said.keys).toEqual(["One", "Two", "Three", "Six <b>x</b>"]);
  expect(said.bare.map((line) => line.replace(/^x.tsx:\d+ /, ""))).toEqual([
    "t(name): the text has to be written out",
    'title="Four"',
    "Five",
    "… of the targets",
    "Nothing is lost",
    "Down",
  ]);
});
