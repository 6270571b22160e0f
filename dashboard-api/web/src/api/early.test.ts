import { expect, test } from "vitest";
import { ask, asked, isAsked, overviewPath, SPARE_SLOTS, sessionPath, snapshotPath } from "./early";

const session = sessionPath;
const snapshot = snapshotPath(SPARE_SLOTS);

test("what was asked early is answered once, and only what went well", async () => {
  const paths: string[] = [];
  const answers: Record<string, () => Promise<Response>> = {
    [session]: async () => new Response("{}"),
    [snapshot]: async () => new Response("", { status: 503 }),
  };
  const get = (path: string) => {
    paths.push(path);
    return answers[path]?.() ?? Promise.reject(new Error("asked for something else"));
  };
  ask("/incidents/7", get);
  expect(paths).toEqual([session, snapshot]);
  expect(await (await asked(session))?.text()).toBe("{}");
  expect(await asked(session)).toBeNull();
  expect(isAsked(session)).toBe(false);
  expect(isAsked(snapshot)).toBe(true);
  expect(await asked(snapshot)).toBeNull();

  answers[session] = async () => new Response("", { status: 401 });
  ask("/incidents", get);
  expect((await asked(session))?.status, "nobody is signed in: that is an answer").toBe(401);
  paths.length = 2;

  answers[session] = () => Promise.reject(new TypeError("no network"));
  ask("/", get);
  expect(paths.slice(2)).toEqual([session, overviewPath]);
  ask("/?state=down", get);
  expect(paths.slice(4)).toEqual([session, snapshot]);
  expect(await asked(session)).toBeNull();
});

test("nothing is asked where nobody is signed in yet", () => {
  for (const page of ["/login", "/setup", "/invitation"]) ask(page, () => expect.unreachable(page));
});
