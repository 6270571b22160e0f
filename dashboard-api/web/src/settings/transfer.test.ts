import { expect, test } from "vitest";
import { changeWords, shown } from "./transfer";

test("values are said briefly", () => {
  expect([null, undefined, "", []].map(shown)).toEqual(["—", "—", "—", "—"]);
  expect(shown(["eu", "us"])).toBe("eu us");
  expect(shown(false)).toBe("false");
  expect(shown(60)).toBe("60");
  expect(shown([{ source: "body" }])).toBe('[{"source":"body"}]');
  expect(shown("x".repeat(100))).toHaveLength(80);
});

test("a change says its field and both values", () => {
  expect(changeWords({ pointer: "/http/method", from: null, to: "POST" })).toBe("http.method: — → POST");
  expect(changeWords({ pointer: "/tags", from: ["a"], to: ["a", "b"] })).toBe("tags: a → a b");
  expect(changeWords({ pointer: "", from: "[secret]", to: "[secret]" })).toBe("A secret is written anew.");
});
