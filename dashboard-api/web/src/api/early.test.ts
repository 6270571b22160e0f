import { expect, test } from "vitest";
import { ask, asked, SPARE_SLOTS, snapshotPath } from "./early";

const session = "/api/v1/session";
const snapshot = snapshotPath(SPARE_SLOTS);

test("what was asked early is answered once, and only what went well", async () => {
  const paths: string[] = [];
  const answers: Record<string, () => Promise<Response>> = {
    [session]: async () => new Response("{}"),
    [snapshot]: async () => new Response("", { status: 401 }),
  };
  const get = (path: string) => {
    paths.push(path);
    return answers[path]?.() ?? Promise.reject(new Error("asked for something else"));
  };
  ask("/incidents/7", get);
  expect(paths).toEqual([session, snapshot]);
  expect(await (await asked(session))?.text()).toBe("{}");
  expect(await asked(session)).toBeNull();
  expect(await asked(snapshot)).toBeNull();

  answers[session] = () => Promise.reject(new TypeError("no network"));
  ask("/", get);
  expect(await asked(session)).toBeNull();
});

test("nothing is asked where nobody is signed in yet", () => {
  for (const page of ["/login", "/setup", "/invitation"]) ask(page, () => expect.unreachable(page));
});
