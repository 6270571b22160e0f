import { describe, expect, it } from "vitest";
import { linesOf } from "./preview";

const nameOf = (id: number) => `target ${id}`;

describe("an edit of many", () => {
  it("shows what changes, and for how many", () => {
    const before = [
      { ids: [2, 3], set: { interval_s: 60, timeout_ms: 5000 } },
      { ids: [1], set: { timeout_ms: 5000, regions: [] } },
      { ids: [4], set: { timeout_ms: 1000 } },
    ];
    expect(linesOf(before, { interval_s: 10, timeout_ms: 2500, regions: ["us", "eu"] }, nameOf)).toEqual([
      { field: "Interval", from: "60 s", to: "10 s", n: 2 },
      { field: "Regions", from: "every region", to: "eu, us", n: 1 },
      { field: "Timeout", from: "5 s", to: "2.5 s", n: 3 },
      { field: "Timeout", from: "1 s", to: "2.5 s", n: 1 },
    ]);
  });
  it("says of tags which come and which go", () => {
    const before = [
      { ids: [1, 2], set: { remove_tags: ["prod"] } },
      { ids: [3], set: { add_tags: ["old"], remove_tags: ["prod"] } },
    ];
    expect(linesOf(before, { add_tags: ["prod"], remove_tags: ["old"] }, nameOf)).toEqual([
      { field: "Tag", from: "without prod", to: "with prod", n: 3 },
      { field: "Tag", from: "with old", to: "without old", n: 1 },
    ]);
  });
  it("names parents, codes, addresses and rules", () => {
    const before = [
      { ids: [1], set: { parent_id: 7, expect: { status: ["200"] }, family: "6", policy: { down_after: 3 } } as const },
      { ids: [2], set: { parent_id: null, expect: null, family: null, policy: null } },
    ].map(({ ids, set }) => ({ ids, set: JSON.parse(JSON.stringify(set)) }));
    const set = { parent_id: 9, expect: { status: ["204", "301"] }, family: "4", policy: { up_after: 2 } } as const;
    expect(linesOf(before, JSON.parse(JSON.stringify(set)), nameOf)).toEqual([
      { field: "Addresses", from: "IPv6", to: "IPv4", n: 1 },
      { field: "Addresses", from: "IPv4, IPv6", to: "IPv4", n: 1 },
      { field: "Depends on", from: "target 7", to: "target 9", n: 1 },
      { field: "Depends on", from: "Nothing", to: "target 9", n: 1 },
      { field: "Expected status codes", from: "200", to: "204, 301", n: 1 },
      { field: "Expected status codes", from: "200-399", to: "204, 301", n: 1 },
      { field: "Rule", from: "another one", to: "the one above", n: 1 },
      { field: "Rule", from: "the default", to: "the one above", n: 1 },
    ]);
  });
  it("counts assertions", () => {
    const before = [
      { ids: [1, 2], set: JSON.parse('{"assertions":[{"source":"body","op":"contains","value":"a"}]}') },
      { ids: [3], set: JSON.parse('{"assertions":[]}') },
    ];
    const set = JSON.parse('{"assertions":[{"source":"status","op":"equals","value":"200"}]}');
    expect(linesOf(before, set, nameOf)).toEqual([
      { field: "Assertions", from: "1 assertion", to: "those above", n: 2 },
      { field: "Assertions", from: "Nothing", to: "those above", n: 1 },
    ]);
    expect(linesOf(before.slice(0, 1), { assertions: [] }, nameOf)).toEqual([
      { field: "Assertions", from: "1 assertion", to: "Nothing", n: 2 },
    ]);
  });
  it("says of what is taken back that it is the default", () => {
    const before = [{ ids: [1], set: JSON.parse('{"parent_id":7,"policy":{"down_after":3},"active":true}') }];
    expect(linesOf(before, { parent_id: null, policy: {}, active: false }, nameOf)).toEqual([
      { field: "Checks", from: "Running", to: "Paused", n: 1 },
      { field: "Depends on", from: "target 7", to: "Nothing", n: 1 },
      { field: "Rule", from: "another one", to: "the default", n: 1 },
    ]);
  });
});
