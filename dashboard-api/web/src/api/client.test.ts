import { afterEach, expect, test, vi } from "vitest";
import { ApiError, requestNew } from "./client";

afterEach(() => vi.unstubAllGlobals());

test("what is known is named to the server, and is not sent again", async () => {
  const answers = [
    new Response('{"seq":1}', { headers: { etag: 'W/"1"', "x-probefleet-now": "2026-03-01T00:00:01.000Z" } }),
    new Response(null, { status: 304, headers: { etag: 'W/"1"', "x-probefleet-now": "2026-03-01T00:00:11.000Z" } }),
    new Response("{}", { status: 503 }),
  ];
  const asked: unknown[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    asked.push([path, (init.headers as Record<string, string>)["if-none-match"]]);
    return answers.shift();
  });
  const first = await requestNew("/snapshot", null);
  expect(first).toEqual({ value: { seq: 1 }, tag: 'W/"1"', now: "2026-03-01T00:00:01.000Z" });
  const again = await requestNew("/snapshot", first.tag);
  expect(again).toEqual({ value: null, tag: 'W/"1"', now: "2026-03-01T00:00:11.000Z" });
  await expect(requestNew("/snapshot", first.tag)).rejects.toThrow(ApiError);
  expect(asked).toEqual([
    ["/snapshot", undefined],
    ["/snapshot", 'W/"1"'],
    ["/snapshot", 'W/"1"'],
  ]);
});
