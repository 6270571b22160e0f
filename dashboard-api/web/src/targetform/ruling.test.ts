import { expect, test } from "vitest";
import type { Policy } from "../api/policy";
import { ruleDraftOf } from "../rule/rule";
import { errorsOf } from "./form";
import { ruleBody, ruleErrorsIn } from "./ruling";

const policy: Policy = {
  quorum: { rule: "count", count: 2, at_least: 2, firm: true },
  down_after: 2,
  up_after: 3,
  for_s: 60,
  open_on: "degraded",
  degraded: { latency_ms: 900, certificate_days: 14, ignore_minority: true },
  flapping: { off: true, half_life_s: 600, begin: 1.5, end: 0.5 },
};

test("a rule is saved as it was loaded, and only when it changed", () => {
  const draft = ruleDraftOf(policy);
  expect(ruleBody(draft, draft)).toEqual({ body: {}, errors: {} });
  expect(ruleBody(draft, ruleDraftOf({}))).toEqual({ body: { policy }, errors: {} });
  expect(ruleBody({ ...draft, downAfter: "4" }, draft).body).toEqual({ policy: { ...policy, down_after: 4 } });
  expect(ruleBody(ruleDraftOf({}), draft).body).toEqual({ policy: {} });
});

test("mistakes of the rule are among those of the form, and found again at their fields", () => {
  const plain = ruleDraftOf({});
  const { body, errors } = ruleBody({ ...plain, downAfter: "often", begin: "x" }, plain);
  expect(body).toEqual({});
  expect(Object.keys(errors).sort()).toEqual(["/policy/down_after", "/policy/flapping/begin"]);
  expect(Object.keys(ruleErrorsIn(errors)).sort()).toEqual(["begin", "downAfter"]);
});

test("what the server says of the rule stands at its field; the rest of it above them, nothing of others", () => {
  const say = (pointer: string) => ({ pointer, code: "x", message: `of ${pointer}` });
  const pointers = ["/policy/quorum/count", "/policy/degraded/ignore_minority", "/policy", "/name", "/tls"];
  const errors = errorsOf({ type: "about:blank", title: "invalid", status: 422, errors: pointers.map(say) });
  expect(ruleErrorsIn(errors)).toEqual({
    count: "Of /policy/quorum/count.",
    form: "Of /policy/degraded/ignore_minority. Of /policy.",
  });
  expect(ruleErrorsIn({ name: "No." })).toEqual({});
});
