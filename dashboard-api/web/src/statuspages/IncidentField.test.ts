import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { IncidentChoice } from "./IncidentField";

const shown = (value: number | null, error?: string) => {
  const props = { choices: [[4, "Shop"] as const, [9, "Mail"] as const], value, error, onChange: () => {} };
  return renderToStaticMarkup(createElement(IncidentChoice, props));
};
const options = (html: string) =>
  [...html.matchAll(/<option([^>]*)>([^<]*)/g)].map(([, is, line]) => [line, is?.trim()]);

test("a post tells of one incident, or of none", () => {
  expect(options(shown(null))).toEqual([
    ["No incident", 'value="" selected=""'],
    ["Shop", 'value="4"'],
    ["Mail", 'value="9"'],
  ]);
  expect(options(shown(9))).toEqual([
    ["No incident", 'value=""'],
    ["Shop", 'value="4"'],
    ["Mail", 'value="9" selected=""'],
  ]);
});

test("an incident that is not read yet stays chosen", () => {
  expect(options(shown(7))).toEqual([
    ["No incident", 'value=""'],
    ["Incident 7", 'value="7" selected=""'],
    ["Shop", 'value="4"'],
    ["Mail", 'value="9"'],
  ]);
});

test("what the API has against it stands at the field", () => {
  const html = shown(4, "There is no such incident.");
  expect(html).toContain('aria-invalid="true"');
  expect(html).toContain("There is no such incident.");
  expect(shown(4)).not.toContain("aria-invalid");
});
