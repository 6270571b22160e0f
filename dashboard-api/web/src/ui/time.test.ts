import { describe, expect, it } from "vitest";
import { dayOf, dayTime } from "./time";

describe("a time of day", () => {
  const noon = Date.parse("2026-03-29T12:00:00Z");
  it("has its date where that is not today's", () => {
    const today = dayOf(noon, "utc");
    expect(dayTime(noon - 3_600_000, "utc", today)).toBe("11:00:00");
    expect(dayTime(noon - 43_201_000, "utc", today)).toBe("28 Mar, 23:59:59");
  });
  it("is of the day that it is in the chosen zone", () => {
    const late = new Date(2026, 2, 28, 23, 59, 59);
    expect(dayTime(late.getTime(), "local", dayOf(late.getTime() - 1_000, "local"))).toBe("23:59:59");
    expect(dayTime(late.getTime(), "local", dayOf(late.getTime() + 1_000, "local"))).toBe("28 Mar, 23:59:59");
  });
});
