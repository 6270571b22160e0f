import { describe, expect, it } from "vitest";
import { parseTags, suggestTags } from "./tags";

describe("tags", () => {
  it("are read out of what was typed or pasted, each once and without capitals", () => {
    expect(parseTags("Prod, team:db prod;eu-1")).toEqual({ tags: ["prod", "team:db", "eu-1"], bad: [] });
    expect(parseTags("-x ok über")).toEqual({ tags: ["ok"], bad: ["-x", "über"] });
    expect(parseTags("x".repeat(41)).bad).toHaveLength(1);
    expect(parseTags("  ")).toEqual({ tags: [], bad: [] });
  });
  it("are suggested as they begin, then by how many have them, and not twice", () => {
    const known = new Map([
      ["db", 1],
      ["prod", 9],
      ["team:db", 5],
      ["debug", 2],
    ]);
    expect(suggestTags("d", known, [])).toEqual(["debug", "db", "prod", "team:db"]);
    expect(suggestTags("db", known, ["db"])).toEqual(["team:db"]);
    expect(suggestTags("", known, [], 2)).toEqual(["prod", "team:db"]);
  });
});
